import { SignatureError } from '../errors/signature-error.ts';
import { findMembers, type MemberSpan, skipSpace, skipSpaceBack, stringEnd } from '../json/text-scanner.ts';

const member = '"signature"';

/**
 * A JSON object's text without its top-level `signature` member: what a serializer would have written, had the
 * member not been there.
 *
 * @param text accepted by `JSON.parse` as an object with a `signature` member of its own
 * @throws {SignatureError} `signature_duplicated` when it has more than one
 */
export function exciseSignature(text: string): string {
  const { start, value } = findOnly(text);
  const before = skipSpaceBack(text, start);
  const after = skipSpace(text, value.end);
  if (text[before - 1] === ',') {
    // `{"a":1 , "signature":"x"` -> `{"a":1`: with the comma before it, and the space before that.
    return text.slice(0, skipSpaceBack(text, before - 1)) + text.slice(value.end);
  }
  if (text[after] === ',') {
    // `{ "signature":"x" , "a":1` -> `{ "a":1`: up to the next member.
    return text.slice(0, start) + text.slice(skipSpace(text, after + 1));
  }
  // The only member: `{ "signature":"x" }` -> `{}`.
  return text.slice(0, before) + text.slice(after);
}

function findOnly(text: string): MemberSpan {
  const at = text.indexOf(member);
  // Most bodies hold the name once and no \u escape at all. Then no other string can spell it, as a name or
  // otherwise, so the one that JSON.parse saw is here, and walking the members would only find it again.
  if (at !== -1 && text.indexOf(member, at + member.length) === -1 && !text.includes('\\u')) {
    const start = skipSpace(text, skipSpace(text, at + member.length) + 1);
    if (text[start] === '"') return { start: at, value: { start, end: stringEnd(text, start) } };
  }
  const [only, another] = findMembers(text, 'signature');
  if (only === undefined || another !== undefined) {
    throw new SignatureError('signature_duplicated', 'The body has more than one top-level signature.');
  }
  return only;
}
