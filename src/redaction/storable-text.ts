/**
 * A text that every store takes: PostgreSQL refuses U+0000 and lone surrogates, which cutting a text can leave behind.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
