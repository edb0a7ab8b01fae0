import type { JsonObject, JsonValue } from '../../internal/json.ts';
import { writeSignature } from '../../signature/digest.ts';
import { canonicalText } from '../../signature/serializations.ts';
import { signBody } from '../../signature/sign-body.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';
import type { SeededRandom } from '../seeded-random.ts';

/** How the text of an event is spelled: see `eventSpelling` of `createSandbox`. @inline */
export type EventSpelling = 'awkward' | 'compact';

export function eventText(
  body: JsonObject,
  { key, scheme, spelling }: { key: string; scheme: SignatureScheme; spelling: EventSpelling },
): string {
  return spelling === 'compact' ? signBody(body, { key, scheme }).text : awkwardText(body, key, scheme);
}

/**
 * `JSON.parse` moves this member to the front, since its name is an integer. It follows the signature, so that a
 * receiver that cuts off the end of the text fails.
 */
const integerMember = { '1': 'Not in the contract: a name like this moves when the body is parsed.' };

/** Uses every spelling that is lost when a receiver parses the body and writes it again. */
function awkwardText(body: JsonObject, key: string, scheme: SignatureScheme): string {
  const members = writeMembers(body);
  const last = writeMembers(integerMember);
  const unsignedText = braced([...members, ...last]);
  // Sound: the text is that of an object.
  const value = JSON.parse(unsignedText) as JsonObject;
  const signature = writeSignature(scheme, key, canonicalText(scheme, { json: unsignedText, value }));
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

/** Escapes slashes (`\/`) and all characters beyond ASCII (`\u00e9`). */
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

/** Reported to exist; not in the contract. */
export const unfamiliarName = 'event.buy.error';

export function unfamiliarEvent(body: JsonObject): JsonObject {
  return { ...body, event_name: unfamiliarName, error_code: 'SANDBOX' };
}

/**
 * Adds members that are not published, with names that break careless code: prototypes, integers, the empty name,
 * and a nested `signature`.
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

export function foreignKey(random: SeededRandom): string {
  return Buffer.from(random.bytes(32)).toString('hex');
}

/** Changes one digit of the amount in a signed text, so that only the signature shows it. */
export function tamperedText(text: string): string {
  const amount = /("fiat_amount_to_pay"\s*:\s*)(\d)/;
  const changed = text.replace(
    amount,
    (_, name: string, digit: string) => name + (digit === '9' ? '8' : '9'),
  );
  // A payload without an amount: changes the order id.
  return changed === text ? text.replace(/("partner_order_id"\s*:\s*")/, '$1X') : changed;
}
