import { receivedNameOf, type WireNames } from '../../deployment/wire-names.ts';
import type { JsonObject } from '../../json/json-value.ts';

/**
 * What a body says of whose it is. Nobody has verified it: it decides which key is tried first, and nothing else.
 */
export interface KeyHints {
  /** What may be a `partnerId` or `partnerCode`. */
  readonly partners: readonly string[];
  /** What may be a name in `merchantSecretKeys`. */
  readonly merchants: readonly string[];
  /** What all deliveries of one merchant have in common. */
  readonly sender: string;
  /** What all deliveries of one order have in common, the sender included. */
  readonly order: string | undefined;
}

/** Longer texts name nobody; without a limit the memory of what matched could hold any amount. */
const maxLength = 500;

/** The hints of a parsed body. Anybody may have sent it, so any member may be missing, huge or of another type. */
export function keyHints(body: JsonObject, wireNames: WireNames): KeyHints {
  const merchantId = receivedNameOf('platform_merchant_id', body, wireNames);
  const partners = textsOf(body.partner_id, body.partner_code);
  const merchants = textsOf(body[merchantId], body.fiat_currency, body.currency, fiatOf(body.pair));
  const order = textOf(body.partner_order_id);
  const sender = [textOf(body.partner_callback_url), ...partners, ...merchants].join('\n');
  // Two partners may use the same ids.
  return { partners, merchants, sender, order: order === undefined ? undefined : `${sender}\n${order}` };
}

/** Of the form <FIAT>/<CRYPTO>. */
function fiatOf(pair: unknown): string | undefined {
  return textOf(pair)?.split('/', 1)[0];
}

function textsOf(...values: unknown[]): readonly string[] {
  const texts: string[] = [];
  for (const value of values) {
    const text = textOf(value);
    if (text !== undefined && !texts.includes(text)) texts.push(text);
  }
  return texts;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' && value.length <= maxLength ? value : undefined;
}
