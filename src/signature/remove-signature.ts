import { SignatureError } from '../errors/signature-error.ts';
import { findMembers } from '../json/text-scanner.ts';

/** Without its opening quote: the engine looks for the first character, and quotes are everywhere. */
const nameTail = 'signature"';

/**
 * A JSON object's text without its top-level `signature` member: what a serializer would have written, had the
 * member not been there.
 *
 * @param text accepted by `JSON.parse` as an object with a `signature` member of its own
 * @throws {SignatureError} `signature_duplicated` when it has more than one
 */
export function removeSignature(text: string): string {
  const { start, end } = findOnly(text);
  const before = spaceStart(text, start);
  // `{"a":1 , "signature":"x"` -> `{"a":1`: with the comma before it, and the space before that.
  if (text[before - 1] === ',') return text.slice(0, spaceStart(text, before - 1)) + text.slice(end);
  const after = spaceEnd(text, end);
  // `{ "signature":"x" , "a":1` -> `{ "a":1`: up to the next member.
  if (text[after] === ',') return text.slice(0, start) + text.slice(spaceEnd(text, after + 1));
  // The only member: `{ "signature":"x" }` -> `{}`.
  return text.slice(0, before) + text.slice(after);
}

/** Where the one top-level `signature` lies, name and value. */
function findOnly(text: string): { start: number; end: number } {
  const start = text.indexOf(nameTail) - 1;
  // Most bodies hold the name once and escape no letter. Then no other string can spell it, as a name or otherwise,
  // so the one that JSON.parse saw is here, and walking the members would only find it again.
  if (text[start] === '"' && text.indexOf(nameTail, start + 2) === -1 && !mayEscapeLetters(text)) {
    const open = text.indexOf('"', text.indexOf(':', start));
    const end = text.indexOf('"', open + 1) + 1;
    if (text[end - 2] !== '\\') return { start, end };
  }
  const [member, another] = findMembers(text, 'signature');
  if (member === undefined || another !== undefined) {
    throw new SignatureError('signature_duplicated', 'The body has more than one top-level signature.');
  }
  return { start: member.start, end: member.value.end };
}

/** Whether `\u` occurs, as far as a few looks can tell: a text full of other escapes is better walked once. */
function mayEscapeLetters(text: string): boolean {
  let at = text.indexOf('\\');
  for (let look = 0; at !== -1; look++) {
    if (look === 16 || text[at + 1] === 'u') return true;
    at = text.indexOf('\\', at + 2);
  }
  return false;
}

/** Where the white space before `index` begins. */
export function spaceStart(text: string, index: number): number {
  let at = index;
  while (isSpace(text.charCodeAt(at - 1))) at--;
  return at;
}

/** Where the white space after `index` ends. */
function spaceEnd(text: string, index: number): number {
  let at = index;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** White space as JSON has it, which is less than `trim` takes away. */
function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}
