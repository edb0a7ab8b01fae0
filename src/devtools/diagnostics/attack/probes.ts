import { randomBytes } from 'node:crypto';
import { toWireNames, type WireNames } from '../../../deployment/wire-names.ts';
import { isJsonObject, type JsonObject, type JsonValue, tryParse } from '../../../internal/json.ts';
import { writeSignature } from '../../../signature/digest.ts';
import { canonicalText } from '../../../signature/serializations.ts';
import type { SignatureScheme } from '../../../signature/signature-scheme.ts';
import { tryVerify } from '../try-verify.ts';

/** One request to the receiver. Absent members are those of an authentic delivery. */
export interface ProbeRequest {
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** Headers that are added to those of a delivery, or replace them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Parameters that are added to the URL: `test=1`. */
  readonly query?: string | undefined;
  /**
   * - `optional`: a sound receiver may also leave it out, such as an event that a later one has overtaken.
   * - `separate`: the same, and it may act on both events of that name: the two contradict each other.
   *
   * @default an event of a name in `handles` must have one, and all events of a name in an order at most one
   */
  readonly effect?: 'optional' | 'separate' | undefined;
}

/** Makes bodies for the attack. */
export type Probes = ReturnType<typeof makeProbes>;

/** An order that exists, for the events that must have an effect. */
export interface AttackOrder {
  /** Its id. */
  readonly partner_order_id: string;
  /** Its address, if the receiver compares it. @default a text that marks probes */
  readonly buyer_crypto_address?: string | undefined;
}

/** The ids of orders that an attack makes. */
export const probeIdForm = /^probe-\d+-[0-9a-f]{8}(?:-|$)/;

/** Replaces personal data in every probe. */
const probeMarker = 'probe-of-attack-receiver';

export function makeProbes(options: {
  readonly scheme: SignatureScheme;
  readonly key: string;
  readonly wireNames: WireNames;
  readonly callbackUrl: string;
  /** The event of a probe whose name does not matter. */
  readonly event: string;
  /** The order of authentic events of these names. @default a new order for each event */
  readonly order?: AttackOrder | undefined;
  readonly handles?: readonly string[];
}) {
  const { scheme, key, wireNames, callbackUrl, event, order, handles = [] } = options;
  // Random, so that a receiver does not mistake it for a repetition of an earlier attack.
  const run = randomBytes(4).toString('hex');
  let made = 0;
  let verified: { readonly body: string | Uint8Array; readonly isAuthentic: boolean } | undefined;

  // The number comes first: a receiver that cuts ids must not take all orders for one.
  const newId = () => `probe-${++made}-${run}`;
  /** The text of an event about a new order, unsigned. An undefined member is left out. */
  const unsigned = (members: ProbeMembers = {}) => {
    const id = newId();
    const probe = { ...probeEvent(id, callbackUrl, String(members.event_name ?? event)), ...members };
    // Sound: writing the event as JSON leaves an undefined member out.
    return JSON.stringify(toWireNames(probe as JsonObject, wireNames));
  };
  /** The text of an event that is to be signed: about the given order, if events of its name have an effect. */
  const text = (members: ProbeMembers = {}) => {
    const isOfOrder = order !== undefined && handles.includes(String(members.event_name ?? event));
    return unsigned(isOfOrder ? { ...order, ...members } : members);
  };
  /** The signature of a text, with the right key and scheme unless others are given. */
  const sign = (text: string, other: { key?: string; scheme?: SignatureScheme } = {}) => {
    const value: unknown = JSON.parse(text);
    const body = { json: text, value: isJsonObject(value) ? value : {} };
    const rules = other.scheme ?? scheme;
    return writeSignature(rules, other.key ?? key, canonicalText(rules, body));
  };
  return {
    scheme,
    /** The key of order events. */
    key,
    /** The event of a probe whose name does not matter. */
    event,
    order,
    /** An order id that no other probe has. */
    newId,
    /** The members of an order for several events: the given one, or a new one. */
    newOrder(): ProbeMembers & { readonly partner_order_id: string } {
      if (order !== undefined) return { ...order };
      const id = newId();
      return { partner_order_id: id, platform_order_ref: id };
    },
    unsigned,
    text,
    sign,
    /** The text of an event, signed. */
    authentic(members?: ProbeMembers) {
      const body = text(members);
      return withSignature(body, sign(body));
    },
    /** A text as it is, signed. */
    signed: (body: string) => withSignature(body, sign(body)),
    /** The text of an event with the signature of another one. */
    forged: (body = unsigned()) => withSignature(body, sign(unsigned())),
    /** Whether our own verification accepts the body: then it is no forgery under this scheme. */
    verifies(body: string | Uint8Array) {
      // Asked several times about one delivery, of which some are large.
      if (body !== verified?.body) {
        verified = { body, isAuthentic: tryVerify(body, [key], scheme).refusal === undefined };
      }
      return verified.isAuthentic;
    },
  };
}

/** Adds a signature as the last member to an object's text. @param signature any value */
export function withSignature(unsigned: string, signature: unknown): string {
  return `${unsigned.slice(0, -1)},"signature":${JSON.stringify(signature)}}`;
}

export function orderIdOf(text: string): string {
  return String(objectOf(text)?.partner_order_id);
}

/** Members of a probe; an undefined one is left out. */
export type ProbeMembers = { readonly [member: string]: JsonValue | undefined };

/** The value of a body, or `undefined` if it is no JSON object. */
export function objectOf(body: string | Uint8Array): JsonObject | undefined {
  const value = tryParse(typeof body === 'string' ? body : new TextDecoder().decode(body));
  return isJsonObject(value) ? value : undefined;
}

const created = { created_at: '2025-01-02T03:04:05.678Z', sender_name: probeMarker };

/** The members in which the published events differ (contract: States, Events). */
const published: Readonly<Record<string, (id: string) => JsonObject>> = {
  'event.buy.init': () => statuses('PENDING', 'PENDING'),
  'event.buy.received.fiat': () => statuses('PAID', 'STARTED'),
  'event.buy.received.fiat_kyc_error': () => ({
    ...statuses('PAID', 'STARTED'),
    ...created,
    default_kyc_url: 'https://kyc.example/start',
    message: probeMarker,
    kyc_error_type: 'NO_KYC',
  }),
  'event.buy.third_party_error': () => statuses('PAID', 'STARTED'),
  // Unique, since a receiver may know a payment by its hash.
  'event.buy.credited.crypto': (id) => ({ ...statuses('PAID', 'PAID'), crypto_txn_hash: `hash-of-${id}` }),
  'buy.event.close': () => ({
    ...statuses('PAID', 'STARTED'),
    exchange_rate: '20',
    pair: 'NGN/EUSD',
    chain: 'eusd-mob',
    meta_data: {
      status: 'refunded',
      message: probeMarker,
      refund_account: '0000000000',
      amount_refunded: '10.00',
      fee: 0.5,
    },
  }),
};

function statuses(fiat_payment_status: string, crypto_payment_status: string): JsonObject {
  return { fiat_payment_status, crypto_payment_status };
}

/**
 * A published event of an order that is not known. Plain ASCII, so that a receiver that writes bodies again fails in
 * the cases for that and not in all.
 */
function probeEvent(id: string, callbackUrl: string, event_name: string): JsonObject {
  return {
    event_name,
    partner_order_id: id,
    platform_order_ref: id,
    fiat_amount_to_pay: 10,
    crypto_amount_to_receive: 0.5,
    exchange_rate: 20,
    pair: 'NGN/USDT',
    fiat_currency: 'NGN',
    buyer_crypto_address: probeMarker,
    chain: 'usdt-trc20',
    ...statuses('PENDING', 'PENDING'),
    payer_into_account: {
      account_name: probeMarker,
      account_number: '0000000000',
      bank_name: probeMarker,
    },
    payment_link: null,
    crypto_txn_hash: null,
    partner_callback_url: callbackUrl,
    transactional_kyc: { email: `${probeMarker}@example.com`, phone: '', first_name: '', last_name: '' },
    ...published[event_name]?.(id),
  };
}
