/** A non-negative decimal number: `units / 10 ** scale`. Floating point would round money. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** Hostile input must not become a huge integer. */
const maxLength = 60;

/** Parses a decimal such as `15000.50`; `undefined` for any other text. */
export function parseDecimal(text: string): Decimal | undefined {
  if (text.length > maxLength) return undefined;
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  return whole === undefined ? undefined : { units: BigInt(whole + fraction), scale: fraction.length };
}

/** Writes a decimal with as many places as its scale. */
export function formatDecimal({ units, scale }: Decimal): string {
  const digits = units.toString().padStart(scale + 1, '0');
  return scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/**
 * The number that JSON writes for a decimal; `undefined` if that JSON would be another decimal (a double holds about
 * 15 digits).
 */
export function exactNumber(decimal: Decimal): number | undefined {
  const number = Number(formatDecimal(decimal));
  const written = decimalOf(number);
  return written !== undefined && compareDecimals(written, decimal) === 0 ? number : undefined;
}

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale);
  const difference = unitsAt(a, scale) - unitsAt(b, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** `a / b`, for `b > 0`, cut off after `places` places. */
export function divideDecimals(a: Decimal, b: Decimal, places: number): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { units: (unitsAt(a, scale) * 10n ** BigInt(places)) / unitsAt(b, scale), scale: places };
}

/** The decimal of a number's JSON text, exponent included. */
function decimalOf(number: number): Decimal | undefined {
  const [, digits = '', exponent = '0'] = /^([\d.]+)(?:e([+-]\d+))?$/.exec(String(number)) ?? [];
  const decimal = parseDecimal(digits);
  if (decimal === undefined) return undefined;
  const scale = decimal.scale - Number(exponent);
  return scale >= 0 ? { ...decimal, scale } : { units: decimal.units * 10n ** BigInt(-scale), scale: 0 };
}

function unitsAt(decimal: Decimal, scale: number): bigint {
  return decimal.units * 10n ** BigInt(scale - decimal.scale);
}
