import { addressForms } from '../../addresses/address-forms.ts';
import { checkAddress } from '../../addresses/check-address.ts';
import type { AssumptionId } from '../../deployment/assumptions.ts';
import type { WireNames } from '../../deployment/wire-names.ts';
import { orderEventNames } from '../../events/event-names.ts';
import type { OrderEventName } from '../../events/order-event.ts';
import type { EventIssue, ParsedOrderEvent } from '../../events/parse-order-event.ts';
import { isSettledStatus, isThirdPartyKycError } from '../../events/status.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../internal/json.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';

/** An authentic delivery, as the judges see it. */
export interface GenuineEvent {
  /** With the published names of members. */
  readonly body: JsonObject;
  readonly parsed: ParsedOrderEvent;
  /** `undefined` for a body that was kept without its request. */
  readonly headers: ReadonlyMap<string, string> | undefined;
  /** The one member that can only be `platform_order_ref` under another name. */
  readonly brandedName: string | undefined;
  /** The merchant whose key verified it, if the credentials name one. */
  readonly merchant: string | undefined;
  /** How it came out of turn. */
  readonly disorder: 'twice' | 'out of order' | undefined;
}

/** What one event says of a row. */
export interface RowObservation {
  readonly speaks: 'for' | 'against';
  /** Names, types, or one of the few values that may be shown. */
  readonly found: string;
}

/** Judges a row from the bodies and headers of events. */
export interface EventJudge {
  /** So many different events prove it. */
  readonly least: number;
  /** So many refute it: 1 for a fact of one body, 3 for a habit. */
  readonly leastAgainst: number;
  /** Each of these must have been found before it is proven. */
  readonly each?: readonly string[];
  /** So many different things must have been found before it is proven. @default 1 */
  readonly leastFound?: number;
  /** Which call or wait would show it. */
  readonly howToSee: string;
  /** What to set, where a deployment has that as data. */
  readonly set?: (found: readonly string[]) => { readonly wireNames: WireNames } | undefined;
  /** Whether repetitions are looked at too. */
  readonly takesRepeated?: true;
  readonly observe: (event: GenuineEvent) => RowObservation | undefined;
}

/** Judged by the schemes that fit. */
interface SchemeJudge {
  readonly part: keyof SignatureScheme;
  readonly howToSee: string;
}

/** No delivery can show it. */
interface NoJudge {
  readonly cannot: string;
}

const speaksFor = (found: string): RowObservation => ({ speaks: 'for', found });
const speaksAgainst = (found: string): RowObservation => ({ speaks: 'against', found });

const published = orderEventNames.filter((name) => name !== 'event.buy.third_party_error');
const tellingBody =
  'Capture a body with a number like 10.0, a slash, letters beyond ASCII and nested members, or have a probe signed (detectFromOracle).';

/** A judge for each row of the ledger, or why there is none. */
export const rowJudges: Readonly<Record<AssumptionId, EventJudge | SchemeJudge | NoJudge>> = {
  'signature-construction': { part: 'construction', howToSee: tellingBody },
  'signature-serialization': { part: 'serialization', howToSee: tellingBody },
  'signature-encoding': { part: 'encoding', howToSee: tellingBody },
  'signature-key': {
    part: 'orderKey',
    howToSee: 'Capture an event, and give all the secrets of its partner.',
  },
  'merchant-concatenation': {
    part: 'keySeparator',
    howToSee: 'Only where the key for orders has two parts: capture an event.',
  },
  'merchant-key-prefix': none('It is about the keys that you were given, not about deliveries.'),
  'several-merchants': {
    least: 2,
    leastFound: 2,
    leastAgainst: 1,
    howToSee: 'Give merchantSecretKeys, and capture events in two currencies or more.',
    observe: ({ merchant }) => (merchant === undefined ? undefined : speaksFor(merchant)),
  },
  'key-lifetime': none('Only a wait shows it: events that verify with a key of known age.'),
  'old-keys-die': none('Only a call with old keys after a regeneration shows it, on the staging system.'),
  'regeneration-path': none('Only a regeneration shows it: regenerateKeys on the staging system.'),
  'order-path': none('Only an order shows it: createOrder on the staging system.'),
  'order-payload': none('Only an order shows it: createOrder on the staging system.'),
  'order-partner-id': none('Only orders with and without partnerId in the credentials show it.'),
  'partner-order-id': none('Send an order to the staging system twice, and read the second reply.'),
  'address-form': {
    least: 3,
    leastAgainst: 3,
    each: Object.keys(addressForms),
    howToSee: 'Capture three events or more, on each of the chains.',
    observe: observeAddress,
  },
  'branded-names': {
    least: 3,
    leastAgainst: 3,
    each: ['platform_order_ref', 'platform_merchant_id', 'messenger_device_no', 'connect-msg'],
    howToSee: 'Events show platform_order_ref alone; read the others off the documents of your deployment.',
    set: ([name, ...others]) =>
      name === undefined || others.length > 0 ? undefined : { wireNames: { platform_order_ref: name } },
    observe: observeBrandedName,
  },
  'allowed-values': none('Only the orders that the service refuses show it.'),
  replies: none('Only replies show it: onResponse of the clients.'),
  'order-reply': none('Send an order to the staging system, and read its reply.'),
  'order-conflict': none(
    'Only an order that is answered with 409 or 423, and its events after that, show it.',
  ),
  'order-rate-limit': none('Only an order that is answered with 429, and its events after that, show it.'),
  errors: none('Only refused calls, and events after them, show it.'),
  'otp-refusal': none('Only a message to a number that cannot have it shows it.'),
  'ip-whitelist': none('Only a call from an address that is not whitelisted shows it.'),
  'request-limits': none('Only calls show it: onResponse of the clients.'),
  'number-check': none('Only a number check shows it: checkNumber of MessengerClient.'),
  'phone-form': none('Only messages to numbers in several forms show it.'),
  'verify-check': none('Only messages with and without verify_check show it.'),
  'api-key-form': none('It is about the API key that you were given, not about deliveries.'),
  'terminal-crypto-status': memberJudge(['crypto_payment_status'], {
    event: 'event.buy.credited.crypto',
    isDocumented: isSettledStatus,
    howToSee: 'Wait for three credited orders.',
  }),
  'third-party-spelling': memberJudge(['kyc_error_type'], {
    event: 'event.buy.received.fiat_kyc_error',
    isDocumented: isThirdPartyKycError,
    isNeutral: (text) => text === 'NO_KYC',
    howToSee: 'Wait for three orders that a third party has paid.',
  }),
  'third-party-error-body': {
    least: 3,
    leastAgainst: 1,
    howToSee: 'Wait for three events event.buy.third_party_error.',
    observe: ({ parsed }) => {
      if (nameOf(parsed) !== 'event.buy.third_party_error') return undefined;
      return parsed.kind === 'nonconforming'
        ? speaksAgainst(differences(parsed.issues))
        : speaksFor('readable');
    },
  },
  'amount-units': none('Only a comparison with the statement of a real order shows it.'),
  'timestamp-form': {
    least: 3,
    leastAgainst: 1,
    howToSee: 'Wait for three orders with a KYC error.',
    observe: ({ body, parsed }) => {
      if (nameOf(parsed) !== 'event.buy.received.fiat_kyc_error') return undefined;
      const { created_at } = body;
      if (typeof created_at === 'number') return speaksAgainst('a number');
      if (typeof created_at !== 'string') return undefined;
      return isTimestamp(created_at) ? speaksFor('RFC 3339') : speaksAgainst('a text in another form');
    },
  },
  'close-status': memberJudge(['meta_data', 'status'], {
    event: 'buy.event.close',
    isDocumented: (text) => text === 'refunded',
    howToSee: 'Wait for three orders that are closed with a refund.',
  }),
  'event-shape': {
    least: 10,
    leastAgainst: 1,
    each: published,
    howToSee: `Capture ten events or more, with each of ${published.join(', ')}.`,
    observe: observeShape,
  },
  'event-readings': {
    least: 1,
    leastAgainst: 1,
    howToSee: 'Nothing to do: no event so far was in another form than the documented one.',
    observe: ({ parsed }) => {
      if (parsed.kind !== 'known' || parsed.readings.length === 0) return undefined;
      return speaksFor(
        parsed.readings.map(({ path, readAs }) => `${path.join('.')} as ${readAs}`).join(', '),
      );
    },
  },
  'other-events': {
    least: 1,
    leastAgainst: 1,
    howToSee: 'Wait: no event so far had a name that is not published.',
    observe: ({ parsed }) => (parsed.kind === 'unknown' ? speaksFor(parsed.name) : undefined),
  },
  'callback-reply': none('Answer events with other statuses than 200, and see which come again.'),
  'event-content-type': {
    least: 10,
    leastAgainst: 1,
    howToSee: 'Capture ten events or more with their headers (listen --save).',
    observe: ({ headers }) => {
      if (headers === undefined) return undefined;
      const encoding = headers.get('content-encoding') ?? 'identity';
      if (encoding !== 'identity') return speaksAgainst('a Content-Encoding');
      return speaksFor(headers.has('content-type') ? 'with a Content-Type' : 'without a Content-Type');
    },
  },
  'callback-retry': none('Answer some events with 500, and see whether and when they come again.'),
  'event-order': {
    least: 1,
    leastAgainst: 1,
    takesRepeated: true,
    howToSee: 'Wait: no event so far came twice or out of order.',
    observe: ({ disorder }) => (disorder === undefined ? undefined : speaksFor(disorder)),
  },
  'event-matches-order': none(
    'Only a comparison of events with the orders that you sent shows it: the order journal.',
  ),
  'order-transitions': none('It cannot be refuted by events: one that never came may still come.'),
  versioning: none('Only calls with other paths show it.'),
  'event-replay': {
    least: 10,
    leastAgainst: 3,
    howToSee: 'Capture ten events or more.',
    observe: ({ body }) => {
      const name = Object.keys(body).find(
        (each) => each !== 'created_at' && timeLike.test(each) && /number|string/.test(typeof body[each]),
      );
      return name === undefined ? speaksFor('no member like a time or a nonce') : speaksAgainst(name);
    },
  },
};

function none(cannot: string): NoJudge {
  return { cannot };
}

/** The names of the members that have a row of their own, by event. */
const ownRows: Readonly<Record<string, string>> = {
  'event.buy.credited.crypto crypto_payment_status': 'text',
  'event.buy.received.fiat_kyc_error kyc_error_type': 'text',
  'event.buy.received.fiat_kyc_error created_at': 'any',
  'buy.event.close meta_data.status': 'text',
};

interface MemberRule {
  readonly event: OrderEventName;
  readonly isDocumented: (text: string) => boolean;
  /** Whether it says nothing of the row. */
  readonly isNeutral?: (text: string) => boolean;
  readonly howToSee: string;
}

/** A row about the text of one member. Another case alone is read (`event-readings`), and says nothing of the row. */
function memberJudge(
  path: readonly string[],
  { event, isDocumented, isNeutral, howToSee }: MemberRule,
): EventJudge {
  return {
    least: 3,
    leastAgainst: 1,
    howToSee,
    observe: ({ body, parsed }) => {
      const value = memberAt(body, path);
      if (nameOf(parsed) !== event || typeof value !== 'string' || isNeutral?.(value)) return undefined;
      if (isDocumented(value)) return speaksFor(value);
      const isRefused =
        parsed.kind === 'nonconforming' && parsed.issues.some((issue) => issue.path.join() === path.join());
      return isRefused ? speaksAgainst(value) : undefined;
    },
  };
}

function observeShape({ body, parsed }: GenuineEvent): RowObservation | undefined {
  const name = nameOf(parsed);
  if (parsed.kind === 'unknown' || name === 'event.buy.third_party_error') return undefined;
  if (parsed.kind === 'known') return speaksFor(name);
  const issues = parsed.issues.filter(({ path }) => {
    const own = ownRows[`${name} ${path.join('.')}`];
    return own === undefined || (own === 'text' && typeof memberAt(body, path.map(String)) !== 'string');
  });
  return issues.length === 0 ? undefined : speaksAgainst(`${name} ${differences(issues)}`.trim());
}

function observeAddress({ body }: GenuineEvent): RowObservation | undefined {
  const { buyer_crypto_address: address, chain } = body;
  if (typeof address !== 'string' || typeof chain !== 'string') return undefined;
  const { verdict, reason } = checkAddress(address, { chain });
  if (verdict === 'valid') return speaksFor(chain);
  return reason === 'form' || reason === 'checksum' || reason === 'other_chain'
    ? speaksAgainst(`${chain}: ${reason}`)
    : undefined;
}

function observeBrandedName({ body, parsed, brandedName }: GenuineEvent): RowObservation | undefined {
  if (brandedName !== undefined) return speaksAgainst(brandedName);
  if (parsed.kind !== 'known' || !Object.hasOwn(body, 'platform_order_ref')) return undefined;
  return speaksFor('platform_order_ref');
}

const timeLike = /(?:^|_)(?:time|timestamp|nonce|date|ts|at)$|(?:Time|Timestamp|Nonce|Date|At)$/;
const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;

function isTimestamp(text: string): boolean {
  return rfc3339.test(text) && !Number.isNaN(Date.parse(text));
}

function nameOf(parsed: ParsedOrderEvent): string {
  return parsed.kind === 'known' ? parsed.event.event_name : parsed.name;
}

function memberAt(body: JsonObject, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (value, name) => (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    body,
  );
}

function differences(issues: readonly EventIssue[]): string {
  return issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`)
    .join('; ');
}
