import { ValidationError } from '../errors/errors.ts';
import type { JsonObject } from '../internal/json.ts';
import { invalidOption, nested, type OptionTable, optional } from '../internal/options.ts';

/**
 * Names that a deployment may replace with its own, since the contract and the reported facts leave the brand out: three
 * members of bodies and one path segment (`connect-msg`).
 * @inline
 */
export type BrandedName =
  | 'platform_order_ref'
  | 'platform_merchant_id'
  | 'messenger_device_no'
  | 'connect-msg';

/** Published name to this deployment's own name. @useDeclaredType */
export type WireNames = Readonly<Partial<Record<BrandedName, string>>>;

const ownName = optional((own, name) => {
  if (typeof own === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(own)) return own;
  throw invalidOption(`${name} must be 1 to 64 letters, digits, "_" or "-".`);
});

const rows = {
  platform_order_ref: ownName,
  platform_merchant_id: ownName,
  messenger_device_no: ownName,
  'connect-msg': ownName,
} satisfies OptionTable<Record<BrandedName, string | undefined>>;
const readNames = nested(rows);
export const brandedNames = Object.keys(rows);

/** They mean something else in a body of the contract, or in JavaScript. */
const reserved: readonly string[] = [
  '__proto__',
  'api_key',
  'buyer_crypto_address',
  'chain',
  'constructor',
  'created_at',
  'crypto_amount_to_receive',
  'crypto_payment_status',
  'crypto_txn_hash',
  'default_kyc_url',
  'event_name',
  'exchange_rate',
  'fiat_amount_to_pay',
  'fiat_currency',
  'fiat_payment_status',
  'kyc_error_type',
  'message',
  'meta_data',
  'pair',
  'partner_callback_url',
  'partner_order_id',
  'payer_into_account',
  'payment_link',
  'sender_name',
  'signature',
  'transactional_kyc',
];

/** @throws {ConfigurationError} `invalid_option` for an unknown, unsafe or ambiguous name */
export function checkWireNames(given: unknown): WireNames {
  const all = Object.entries(readNames(given, 'wireNames'));
  const names = all.flatMap(([published, own]) => (own === undefined ? [] : [[published, own] as const]));
  for (const [index, [published, own]] of names.entries()) {
    const isInUse = own !== published && (reserved.includes(own) || Object.hasOwn(rows, own));
    if (isInUse || names.slice(0, index).some(([, other]) => other === own)) {
      throw invalidOption(`wireNames.${published}: "${own}" already names something else.`);
    }
  }
  return Object.freeze(Object.fromEntries(names));
}

export function toWireNames(body: JsonObject, names: WireNames): JsonObject {
  for (const [published, own] of pairs(names)) {
    if (Object.hasOwn(body, published) && Object.hasOwn(body, own)) {
      throw new ValidationError('The body', [
        { path: [own], message: `stands for ${published}, which is there too: give only one of them` },
      ]);
    }
  }
  return rename(body, new Map(pairs(names)));
}

/** Replaces the deployment's own names with the published ones, but for names that are there already. */
export function fromWireNames(body: JsonObject, names: WireNames): JsonObject {
  const renamed = pairs(names);
  if (renamed.length === 0) return body;
  const wanted = renamed.filter(([published]) => !Object.hasOwn(body, published));
  return rename(body, new Map(wanted.map(([published, own]) => [own, published])));
}

/** The name of a published member in a received body: see {@link fromWireNames}. */
export function receivedNameOf(published: string, body: JsonObject, names: WireNames): string {
  if (Object.hasOwn(body, published)) return published;
  return new Map(pairs(names)).get(published) ?? published;
}

function rename(body: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  if (names.size === 0) return body;
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [names.get(name) ?? name, value]));
}

function pairs(names: WireNames): [string, string][] {
  return Object.entries(names).filter(([published, own]) => published !== 'connect-msg' && published !== own);
}
