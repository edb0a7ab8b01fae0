import { signingKey } from '../../credentials/signing-key.ts';
import { toWireNames } from '../../deployment/wire-names.ts';
import { orderRecord } from '../callbacks/order-event-body.ts';
import { postEvent } from '../callbacks/post-event.ts';
import { Refusal } from '../http/refusal.ts';
import { jsonReply } from '../http/replies.ts';
import { publishedNames, readSignedBody, requireShape } from '../http/request-body.ts';
import { operationRoute, type Route, type RoutedRequest } from '../http/routes.ts';
import { requirePartner } from '../partners/partner-routes.ts';
import type { SandboxState } from '../sandbox-state.ts';
import { createOrder } from './create-order.ts';

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
    throw new Refusal(403, 'ip_not_whitelisted', `The IP ${ip} is not whitelisted.`);
  }
  const partner = requirePartner(state.partners, request);
  const partnerId = request.headers.get('x-partner-id');
  if (partnerId !== null && partnerId !== partner.partnerId) {
    throw new Refusal(401, 'partner_id_mismatch', 'The x-partner-id is not that of the public key.');
  }
  const scheme = deployment.signature;
  const signed = readSignedBody(body, signingKey(partner.credentials, 'order', { scheme }), scheme);
  const payload = publishedNames(signed, deployment.wireNames);
  await requireShape(deployment.orderSchema, payload, 'invalid_order');
  const order = await createOrder(payload, options, {
    partnerId: partner.partnerId,
    number: orders.nextNumber(),
  });
  const reply = jsonReply(200, toWireNames(orderRecord(order), deployment.wireNames));
  orders.add(order);
  void postEvent(state, order);
  return reply;
}
