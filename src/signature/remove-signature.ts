import { SignatureError } from '../errors/signature-error.ts';
import { findMembers } from '../json/text-scanner.ts';

/**
 * A JSON object's text without its top-level `signature` member: what its serializer would have written without that
 * member.
 *
 * @param text an object with a top-level `signature`, accepted by `JSON.parse`
 * @throws {SignatureError} `signature_duplicated` when it has more than one
 */
export function removeSignature(text: string): string {
  const [member, another] = findMembers(text, 'signature');
  if (member === undefined || another !== undefined) throw duplicatedSignature();
  const { start } = member;
  const { end } = member.value;
  const before = spaceStart(text, start);
  // `{"a":1 , "signature":"x"` -> `{"a":1`: the comma before it goes, with the space before that.
  if (text[before - 1] === ',') return text.slice(0, spaceStart(text, before - 1)) + text.slice(end);
  const after = spaceEnd(text, end);
  // `{ "signature":"x" , "a":1` -> `{ "a":1`: cut up to the next member.
  if (text[after] === ',') return text.slice(0, start) + text.slice(spaceEnd(text, after + 1));
  // The only member: `{ "signature":"x" }` -> `{}`.
  return text.slice(0, before) + text.slice(after);
}

export function duplicatedSignature(): SignatureError {
  return new SignatureError('signature_duplicated', 'The body has more than one top-level signature.');
}

/** Where the white space before `index` begins. */
export function spaceStart(text: string, index: number): number {
  if (!isSpace(text.charCodeAt(index - 1))) return index;
  // A loop over a mebibyte of white space would take longer than hashing it.
  const start = text.slice(0, index).trimEnd().length;
  // trimEnd also removes what is no white space in JSON. A text that has it there is not JSON, wherever it is cut.
  return notSpace.test(text.slice(start, index)) ? index : start;
}

const notSpace = /[^ \t\n\r]/;

/** Where the white space after `index` ends. */
function spaceEnd(text: string, index: number): number {
  let at = index;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** White space in JSON, which is less than what `trim` removes. */
function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}
