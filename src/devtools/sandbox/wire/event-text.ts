import type { JsonObject, JsonValue } from '../../../internal/json.ts';
import { writeSignature } from '../../../signature/digest.ts';
import { canonicalText } from '../../../signature/serializations.ts';
import type { SignatureScheme } from '../../../signature/signature-scheme.ts';
import type { EventSpelling } from '../settings/sandbox-options.ts';
import type { SeededRandom } from '../settings/seeded-random.ts';
import type { EventDraft } from './member-changes.ts';

interface EventTextOptions {
  readonly key: string;
  readonly scheme: SignatureScheme;
  readonly spelling: EventSpelling;
  /** @default none */
  readonly repeated?: EventDraft['repeated'];
}

/** Writes and signs an event. A repeated member is signed as it is written: twice. */
export function eventText(
  body: JsonObject,
  { key, scheme, spelling, repeated = [] }: EventTextOptions,
): string {
  const style = styles[spelling];
  const members = writeMembers(body, style, repeated);
  const last = spelling === 'awkward' ? writeMembers(integerMember, style) : [];
  const unsignedText = style.object([...members, ...last]);
  // Sound: the text is that of an object.
  const value = JSON.parse(unsignedText) as JsonObject;
  const signature = writeSignature(scheme, key, canonicalText(scheme, { json: unsignedText, value }));
  return style.object([...members, ...writeMembers({ signature }, style), ...last]);
}

/**
 * `JSON.parse` moves this member to the front, since its name is an integer. It follows the signature, so that a
 * receiver that cuts off the end of the text fails.
 */
const integerMember = { '1': 'Not in the contract: a name like this moves when the body is parsed.' };

interface Style {
  readonly object: (members: readonly string[]) => string;
  readonly member: (name: string, value: string) => string;
  readonly list: (items: readonly string[]) => string;
  readonly text: (text: string) => string;
  readonly number: (number: number) => string;
}

/** `awkward` uses every spelling that is lost when a receiver parses the body and writes it again. */
const styles = {
  awkward: {
    object: (members) => `{\n  ${members.join(',\n  ')}\n}`,
    member: (name, value) => `${name} : ${value}`,
    list: (items) => `[ ${items.join(' , ')} ]`,
    text: writeText,
    number: writeNumber,
  },
  compact: {
    object: (members) => `{${members.join(',')}}`,
    member: (name, value) => `${name}:${value}`,
    list: (items) => `[${items.join(',')}]`,
    text: JSON.stringify,
    number: String,
  },
} as const satisfies Record<EventSpelling, Style>;

function write(value: JsonValue, style: Style, repeated: EventDraft['repeated']): string {
  if (typeof value === 'string') return style.text(value);
  if (typeof value === 'number') return style.number(value);
  if (Array.isArray(value)) return style.list(value.map((item) => write(item, style, [])));
  if (typeof value !== 'object' || value === null) return String(value);
  return style.object(writeMembers(value, style, repeated));
}

function writeMembers(
  value: JsonObject,
  style: Style,
  repeated: EventDraft['repeated'] = [],
): readonly string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    const own = repeated.filter(({ path }) => path[0] === name);
    const within = own.flatMap(({ path: [_, ...path], value }) => (path.length > 0 ? [{ path, value }] : []));
    const seconds = own.filter(({ path }) => path.length === 1);
    return [
      style.member(style.text(name), write(member, style, within)),
      ...seconds.map((second) => style.member(style.text(name), write(second.value, style, []))),
    ];
  });
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

/** This name is reported; the contract does not have it. */
const unfamiliarName = 'event.buy.error';

export function unfamiliarEvent(body: JsonObject): JsonObject {
  return { ...body, event_name: unfamiliarName, error_code: 'SANDBOX' };
}

/** The first name is reported, with other members than those of a purchase; the others follow its pattern. */
export const sellSideNames = [
  'event.sell.init',
  'event.sell.received.crypto',
  'event.sell.paid.fiat',
] as const;

export function sellSideEvent(
  { partner_order_id, platform_order_ref, pair }: JsonObject,
  name: string,
): JsonObject {
  return {
    event_name: name,
    partner_order_id: partner_order_id ?? '',
    platform_order_ref: platform_order_ref ?? '',
    pair: pair ?? '',
    crypto_amount_to_pay: 10,
    fiat_amount_to_receive: '15000.50',
    seller_fiat_account: '0123456789',
  };
}

/**
 * Adds members that are not published, with names that break careless code: prototypes, integers, the empty name,
 * and a nested `signature`.
 */
export function withExtraMembers(body: JsonObject): JsonObject {
  return Object.assign(Object.create(null), body, {
    ['__proto__']: { is_admin: true },
    constructor: 'x',
    hasOwnProperty: 'x',
    toString: null,
    '': '',
    '0': 0,
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

/** Where a value of a signed text begins, the first that is there: the amount, the order id, any. */
const tamperedValues = [
  /(?<="fiat_amount_to_pay"\s*:\s*)\d/,
  /(?<="partner_order_id"\s*:\s*)\d|(?<="partner_order_id"\s*:\s*")[^"\\]/,
  /(?<="(?!signature")[^"]*"\s*:\s*)\d|(?<="(?!signature")[^"]*"\s*:\s*")[^"\\]/,
];

/** Changes one character of a signed text, so that only the signature shows it. */
export function tamperedText(text: string): string {
  const value = tamperedValues.find((each) => each.test(text));
  return value === undefined ? text : text.replace(value, (first) => (first === '9' ? '8' : '9'));
}
