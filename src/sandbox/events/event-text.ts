import type { JsonObject, JsonValue } from '../../internal/json.ts';
import { writeSignature } from '../../signature/digest.ts';
import { canonicalText } from '../../signature/serializations.ts';
import { signBody } from '../../signature/sign-body.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';
import type { SeededRandom } from '../seeded-random.ts';

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

/** A name that the contract does not publish; reported to exist. */
export const unfamiliarName = 'event.buy.error';

/** The body of an authentic event under a name that is not published. */
export function unfamiliarEvent(body: JsonObject): JsonObject {
  return { ...body, event_name: unfamiliarName, error_code: 'SANDBOX' };
}

/**
 * A body with members that are not published. Their names are those that careless code trips over: prototypes, names
 * that look like numbers, an empty one, our own `signature` one level down.
 */
export function withExtraMembers(body: JsonObject): JsonObject {
  return Object.assign(Object.create(null), body, {
    ['__proto__']: { is_admin: true },
    ...{ constructor: 'x', hasOwnProperty: 'x', toString: null, '': '', '0': 0 },
    extra_members: {
      signature: 'not this one',
      list: [1, 2.5, 1e21, { deep: [[[]]] }],
      text: 'é "\\/ \u2028 😀',
    },
  });
}

/** A key that nobody issued. */
export function foreignKey(random: SeededRandom): string {
  return Buffer.from(random.bytes(32)).toString('hex');
}

/**
 * A signed text whose amount was changed after signing, as somebody on the way would: one digit, so that nothing but
 * the signature tells.
 */
export function tamperedText(text: string): string {
  const amount = /("fiat_amount_to_pay"\s*:\s*)(\d)/;
  const changed = text.replace(
    amount,
    (_, name: string, digit: string) => name + (digit === '9' ? '8' : '9'),
  );
  // A deployment's own payload may have no amount: then the order id is changed.
  return changed === text ? text.replace(/("partner_order_id"\s*:\s*")/, '$1X') : changed;
}
