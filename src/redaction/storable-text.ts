/** A text that every store takes: PostgreSQL refuses U+0000, and halves of characters, which cutting makes too. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
