import { SignatureError } from '../errors/signature-error.ts';
import { findMembers } from '../json/text-scanner.ts';

/** Without its opening quote: the engine looks for the first character, and quotes are everywhere. */
const nameEnd = 'signature"';

/**
 * A JSON object's text without its top-level `signature` member: what a serializer would have written, had the
 * member not been there.
 *
 * @param text accepted by `JSON.parse` as an object with a `signature` member of its own
 * @throws {SignatureError} `signature_duplicated` when it has more than one
 */
export function exciseSignature(text: string): string {
  const start = findOnly(text);
  const end = valueEnd(text, start);
  const before = spaceStart(text, start);
  // `{"a":1 , "signature":"x"` -> `{"a":1`: with the comma before it, and the space before that.
  if (text[before - 1] === ',') return text.slice(0, spaceStart(text, before - 1)) + text.slice(end);
  const after = spaceEnd(text, end);
  // `{ "signature":"x" , "a":1` -> `{ "a":1`: up to the next member.
  if (text[after] === ',') return text.slice(0, start) + text.slice(spaceEnd(text, after + 1));
  // The only member: `{ "signature":"x" }` -> `{}`.
  return text.slice(0, before) + text.slice(after);
}

/** Where the one top-level `signature` begins. */
function findOnly(text: string): number {
  const at = text.indexOf(nameEnd) - 1;
  // Most bodies hold the name once and escape no letter. Then no other string can spell it, as a name or
  // otherwise, so the one that JSON.parse saw is here, and walking the members would only find it again.
  if (text[at] === '"' && text.indexOf(nameEnd, at + 2) === -1 && !mayEscapeLetters(text)) return at;
  const [only, another] = findMembers(text, 'signature');
  if (only === undefined || another !== undefined) {
    throw new SignatureError('signature_duplicated', 'The body has more than one top-level signature.');
  }
  return only.start;
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

/** The end of the member that begins at `start`, whose value is a string. */
function valueEnd(text: string, start: number): number {
  let at = text.indexOf('"', text.indexOf(':', start) + 1) + 1;
  // A digest has no escapes: its string ends at the next quote.
  const end = text.indexOf('"', at);
  if (text[end - 1] !== '\\') return end + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** Where the white space before `index` begins. Between the tokens of JSON, `trim` removes nothing else. */
function spaceStart(text: string, index: number): number {
  return text.charCodeAt(index - 1) > 0x20 ? index : text.slice(0, index).trimEnd().length;
}

/** Where the white space after `index` ends. */
function spaceEnd(text: string, index: number): number {
  return text.charCodeAt(index) > 0x20 ? index : text.length - text.slice(index).trimStart().length;
}
