import { randomBytes } from 'node:crypto';
import { toWireNames, type WireNames } from '../../deployment/wire-names.ts';
import { isJsonObject, type JsonObject } from '../../internal/json.ts';
import { writeSignature } from '../../signature/digest.ts';
import { canonicalText } from '../../signature/serializations.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';
import { removeSignature } from '../../signature/signed-body.ts';
import { tryVerify } from '../../signature/try-verify.ts';

/** One request to the receiver. Absent members are those of an authentic delivery. */
export interface ProbeRequest {
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
  /** @default 'POST' */
  readonly method?: string | undefined;
  /** Headers that are added to those of a delivery, or replace them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Parameters that are added to the URL: `test=1`. */
  readonly query?: string | undefined;
}

/** Makes bodies for the attack. Every event has a new order id that marks it as a probe. */
export type Probes = ReturnType<typeof makeProbes>;

/** Replaces personal data in every probe. */
export const probeMarker = 'probe-of-attack-receiver';

export function makeProbes(options: {
  readonly scheme: SignatureScheme;
  readonly key: string;
  readonly wireNames: WireNames;
  readonly callbackUrl: string;
}) {
  const { scheme, key, wireNames, callbackUrl } = options;
  // Random, so that a receiver does not mistake it for a repetition of an earlier attack.
  const run = randomBytes(6).toString('hex');
  let made = 0;

  /** The text of a new event, unsigned. */
  const unsigned = (members: JsonObject = {}) => {
    const id = `probe-${run}-${++made}`;
    return JSON.stringify(toWireNames({ ...probeEvent(id, callbackUrl), ...members }, wireNames));
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
    unsigned,
    sign,
    /** The text of a new event, signed. */
    authentic(members?: JsonObject) {
      const text = unsigned(members);
      return withSignature(text, sign(text));
    },
    /** The text of an event with the signature of another one. */
    forged: (text = unsigned()) => withSignature(text, sign(unsigned())),
    /** Whether our own verification accepts the body: then it is no forgery under this scheme. */
    verifies: (body: string | Uint8Array) => tryVerify(body, [key], scheme).refusal === undefined,
    /** The signature that a body should have had; `undefined` if it has no place for one. */
    rightSignatureOf(body: string | Uint8Array) {
      try {
        const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
        const value: unknown = JSON.parse(text);
        if (!isJsonObject(value)) return undefined;
        return sign(Object.hasOwn(value, 'signature') ? removeSignature(text) : text);
      } catch {
        return undefined;
      }
    },
  };
}

/** Adds a signature as the last member to an object's text. @param signature any value */
export function withSignature(unsigned: string, signature: unknown): string {
  return `${unsigned.slice(0, -1)},"signature":${JSON.stringify(signature)}}`;
}

export function orderIdOf(text: string): string {
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? String(value.partner_order_id) : '';
}

/**
 * A published event that moves no money: an order that is not known, for which nothing has been paid. Plain ASCII, so
 * that a receiver that writes bodies again fails in the cases for that and not in all.
 */
function probeEvent(id: string, callbackUrl: string): JsonObject {
  return {
    event_name: 'event.buy.init',
    partner_order_id: id,
    platform_order_ref: id,
    fiat_amount_to_pay: 10,
    crypto_amount_to_receive: 0.5,
    exchange_rate: 20,
    pair: 'NGN/USDT',
    fiat_currency: 'NGN',
    buyer_crypto_address: probeMarker,
    chain: 'usdt-trc20',
    fiat_payment_status: 'PENDING',
    crypto_payment_status: 'PENDING',
    payer_into_account: {
      account_name: probeMarker,
      account_number: '0000000000',
      bank_name: probeMarker,
    },
    payment_link: null,
    crypto_txn_hash: null,
    partner_callback_url: callbackUrl,
    transactional_kyc: { email: `${probeMarker}@example.com`, phone: '', first_name: '', last_name: '' },
  };
}
