import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { canonicalText } from '../../signature/canonical-text.ts';
import { writeSignature } from '../../signature/digest.ts';
import { signBody } from '../../signature/sign-body.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';

/** How the text of an event is spelled: see `eventSpelling` of the sandbox's options. */
export type EventSpelling = 'awkward' | 'compact';

/** The text of a signed event. */
export function eventText(
  body: JsonObject,
  { key, scheme, spelling }: { key: string; scheme: SignatureScheme; spelling: EventSpelling },
): string {
  return spelling === 'compact' ? signBody(body, { key, scheme }).text : awkwardText(body, key, scheme);
}

/**
 * A member that `JSON.parse` moves to the front, since its name is an integer. It comes after the signature, where
 * receivers that cut off the end of the text go wrong.
 */
const integerMember = { '1': 'Not in the contract: a name like this moves when the body is parsed.' };

/** Writes everything that JSON allows and that is lost when a receiver parses the body and writes it again. */
function awkwardText(body: JsonObject, key: string, scheme: SignatureScheme): string {
  const members = writeMembers(body);
  const last = writeMembers(integerMember);
  const unsignedText = braced([...members, ...last]);
  // Sound: the text is that of an object.
  const value = JSON.parse(unsignedText) as JsonObject;
  const signature = writeSignature(scheme, key, canonicalText(scheme, { unsignedText, value }));
  return braced([...members, ...writeMembers({ signature }), ...last]);
}

function write(value: JsonValue): string {
  if (typeof value === 'string') return writeText(value);
  if (typeof value === 'number') return writeNumber(value);
  if (Array.isArray(value)) return `[ ${value.map(write).join(' , ')} ]`;
  return typeof value === 'object' && value !== null ? braced(writeMembers(value)) : String(value);
}

function writeMembers(value: JsonObject): string[] {
  return Object.entries(value).map(([name, member]) => `${writeText(name)} : ${write(member)}`);
}

function braced(members: readonly string[]): string {
  return `{\n  ${members.join(',\n  ')}\n}`;
}

/** With `\/`, and everything beyond ASCII as `\u00e9`. */
function writeText(text: string): string {
  return JSON.stringify(text)
    .replaceAll('/', '\\/')
    .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** `10.0` for 10 and `0.50` for 0.5: the same numbers. */
function writeNumber(number: number): string {
  const text = String(number);
  if (text.includes('e')) return text;
  return text.includes('.') ? `${text}0` : `${text}.0`;
}
