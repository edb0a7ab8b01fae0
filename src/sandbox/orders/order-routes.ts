import { merchantsFor, signingKey } from '../../credentials/signing-key.ts';
import { toWireNames } from '../../deployment/wire-names.ts';
import { orderRecord } from '../callbacks/order-event-body.ts';
import { postEvent } from '../callbacks/post-event.ts';
import { Refusal } from '../http/refusal.ts';
import { jsonReply } from '../http/replies.ts';
import { publishedNames, readSignedBody, requireShape } from '../http/request-body.ts';
import { operationRoute, type Route, type RoutedRequest } from '../http/routes.ts';
import type { Partner } from '../partners/partner-registry.ts';
import { requirePartner } from '../partners/partner-routes.ts';
import type { ResolvedSandboxOptions } from '../resolve-sandbox-options.ts';
import type { SandboxState } from '../sandbox-state.ts';
import { createOrder } from './create-order.ts';
import type { SandboxOrder } from './sandbox-order.ts';

/** Endpoint 4 of the contract. */
export function orderRoutes(state: SandboxState): Route[] {
  return [
    operationRoute(state.deployment, 'createOrder', {
      content: 'json',
      handle: (call) => placeOrder(state, call),
    }),
  ];
}

async function placeOrder(state: SandboxState, { body, ip, request }: RoutedRequest): Promise<Response> {
  const { deployment, options, orders } = state;
  if (options.whitelist === 'enforced' && !state.whitelist.has(ip)) {
    const message = `The IP ${ip} is not whitelisted.`;
    throw new Refusal(options.whitelistStatus, 'ip_not_whitelisted', message);
  }
  const partner = requirePartner(state, request);
  requirePartnerId(request, partner, options);
  const scheme = deployment.signature;
  const merchants = merchantsFor(partner.credentials, scheme);
  const keys = merchants.map((merchant) => signingKey(partner.credentials, 'order', { scheme, merchant }));
  const signed = readSignedBody(body, keys, scheme);
  const payload = publishedNames(signed.body, deployment.wireNames);
  await requireShape(deployment.orderSchema, payload, 'invalid_order');
  const order = await createOrder(payload, options, {
    partnerId: partner.partnerId,
    number: orders.nextNumber(),
  });
  requireMerchant(merchants, signed.keyIndex, order.fiat_currency);
  const reply = (of: SandboxOrder) => jsonReply(200, toWireNames(orderRecord(of), deployment.wireNames));
  const existing = options.duplicateOrders === 'second' ? undefined : orders.existing(order);
  if (existing !== undefined && options.duplicateOrders === 'same') return reply(existing);
  if (existing !== undefined) {
    throw new Refusal(409, 'order_exists', 'There is an order with this partner_order_id.');
  }
  // Made before the order exists: a reply that cannot be written refuses it.
  const created = reply(order);
  orders.add(order);
  const { delivery, isBeforeReply } = postEvent(state, order);
  if (isBeforeReply) await delivery;
  return created;
}

function requirePartnerId(
  request: Request,
  { partnerId }: Partner,
  { partnerIdHeader }: ResolvedSandboxOptions,
): void {
  const given = request.headers.get('x-partner-id');
  if (given === partnerId || (given === null && partnerIdHeader === 'optional')) return;
  const message =
    given === null
      ? 'The header x-partner-id is missing.'
      : 'The x-partner-id is not that of the public key.';
  throw new Refusal(401, 'partner_id_mismatch', message);
}

/** The key of a currency's own merchant signs its orders, and no others. */
function requireMerchant(
  merchants: readonly (string | undefined)[],
  keyIndex: number,
  currency: string,
): void {
  if (merchants[keyIndex] === (merchants.includes(currency) ? currency : undefined)) return;
  throw new Refusal(
    401,
    'wrong_merchant',
    'The order is signed with the merchant key of another currency (ledger: several-merchants).',
  );
}
