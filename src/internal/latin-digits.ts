/**
 * Writes the decimal digits of all scripts as `0` to `9` (`٤٩٣` becomes `493`) and removes invisible characters, such
 * as the marks around a number pasted from a right-to-left text.
 */
export function latinDigits(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/\p{Nd}/gu, (digit) => String(digitValue(digit.codePointAt(0) ?? 0)));
}

/** Unicode has decimal digits only in whole rows from zero to nine (its stability policy). */
function digitValue(codePoint: number): number {
  let zero = codePoint;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return (codePoint - zero) % 10;
}
