import { tryParse } from '../internal/json.ts';
import { findElement, findMembers, type Span } from '../internal/json-scanner.ts';

/** Most characters of a number; more than any amount has. */
const maxLength = 100;

/**
 * The number at a path of a JSON text exactly as it is written, e.g. `15000.10`, `9007199254740993` or `1e2`: the
 * digits that `JSON.parse` rounds away are still there. Decimal libraries accept it. Its exponent may be of any size
 * (`1e999999999`): compare it with a limit before you write it out.
 *
 * It is as authentic as the text. Where the signature is over the parsed value (serializations `compact`, `sorted`,
 * `sorted-shallow` and their base64), only the double is signed: anyone with a signed event can write other digits that
 * round to the same double.
 *
 * @param text the verified text (`text` of `verifyBody`, or of a webhook handler's context)
 * @param path the member's name, or names and array indexes from the outermost inwards
 * @returns `undefined` when there is no such member, when it is not a number or longer than 100
 *   characters, or when the text is not JSON
 * @example
 * ```ts
 * decimalLiteral('{"fiat_amount_to_pay":15000.10}', 'fiat_amount_to_pay'); // '15000.10'
 * ```
 */
export function decimalLiteral(
  text: string,
  path: string | readonly (string | number)[],
): string | undefined {
  const literal = valueAt(text, path);
  return literal !== undefined && isDecimal(literal) ? literal : undefined;
}

/** As {@link decimalLiteral}, and the digits of a text that is a decimal (ledger: `event-readings`). */
export function decimalDigits(text: string, path: string | readonly (string | number)[]): string | undefined {
  const value = valueAt(text, path);
  const digits = value?.startsWith('"') ? String(JSON.parse(value)) : value;
  return digits !== undefined && isDecimal(digits) ? digits : undefined;
}

/** Whether a text is a number as JSON writes it, of at most 100 characters. It may be beyond the largest double. */
export function isDecimal(text: string): boolean {
  return text.length <= maxLength && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
}

/** The JSON text of the value at a path. */
function valueAt(text: string, path: string | readonly (string | number)[]): string | undefined {
  // The scanner only works on JSON, and a caller's text may be anything.
  if (tryParse(text) === undefined) return undefined;
  let at: Span | undefined = { start: text.length - text.trimStart().length, end: text.length };
  for (const segment of typeof path === 'string' ? [path] : path) {
    at = step(text, at, segment);
    if (at === undefined) return undefined;
  }
  return text.slice(at.start, at.end).trim();
}

function step(text: string, at: Span, segment: string | number): Span | undefined {
  const opening = text[at.start];
  if (typeof segment === 'number') return opening === '[' ? findElement(text, segment, at.start) : undefined;
  // Of a repeated name the last one counts, as in JSON.parse.
  return opening === '{' ? findMembers(text, segment, at.start).at(-1)?.value : undefined;
}
