import type { VerificationKeys } from '../../credentials/verification-keys.ts';
import type { WireNames } from '../../deployment/wire-names.ts';
import { isSignatureError, type SignatureErrorCode } from '../../errors/signature-error.ts';
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';
import { verifyBody } from '../../signature/verify-body.ts';
import { readEvent } from '../../webhooks/received-event.ts';

/** What can be said of a body without showing what it holds of a person. */
export interface Judgement {
  /** `unchecked` without keys. */
  readonly signature: 'verified' | 'refused' | 'unchecked';
  readonly code?: SignatureErrorCode;
  /** Which merchant's key matched, if there are several. */
  readonly merchant?: string;
  /** `unknown`: an unfamiliar name. `nonconforming`: not in the published shape. */
  readonly kind?: 'known' | 'unknown' | 'nonconforming';
  /** Of a body that was not verified, the following are claims. */
  readonly event_name?: string;
  readonly partner_order_id?: string;
  readonly platform_order_ref?: string;
  readonly fiat_payment_status?: string;
  readonly crypto_payment_status?: string;
}

/** Verifies a body and reads off it what identifies the event. Never throws. */
export function judgeDelivery(
  body: Uint8Array,
  {
    ring,
    scheme,
    wireNames,
  }: { ring: VerificationKeys | undefined; scheme: SignatureScheme; wireNames: WireNames },
): Judgement {
  if (ring === undefined) return { signature: 'unchecked', ...claims(body, wireNames) };
  try {
    const verified = verifyBody(body, { key: ring.keys, scheme });
    const event = readEvent(verified, wireNames);
    const { merchant } = ring.labels[verified.keyIndex] ?? {};
    return {
      signature: 'verified',
      ...(merchant !== undefined && { merchant }),
      kind: event.parsed.kind,
      ...identity(event.body),
    };
  } catch (error) {
    if (!isSignatureError(error)) throw error;
    return { signature: 'refused', code: error.code, ...claims(body, wireNames) };
  }
}

function claims(body: Uint8Array, wireNames: WireNames): Partial<Judgement> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    if (!isJsonObject(value)) return {};
    return identity(readEvent({ value, text: '', json: '' }, wireNames).body);
  } catch {
    return {};
  }
}

const members = [
  'event_name',
  'partner_order_id',
  'platform_order_ref',
  'fiat_payment_status',
  'crypto_payment_status',
] as const;

function identity(body: JsonObject): Partial<Judgement> {
  const found = members.flatMap((name) => {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    return typeof value === 'string' ? [[name, value.slice(0, 200)]] : [];
  });
  return Object.fromEntries(found);
}
