import { signingKey } from '../credentials/signing-key.ts';
import { toWireNames } from '../deployment/wire-names.ts';
import { createOrder } from './create-order.ts';
import { orderRecord } from './order-event-body.ts';
import { requirePartner } from './partner-routes.ts';
import { postEvent } from './post-event.ts';
import { Refusal } from './refusal.ts';
import { jsonReply } from './replies.ts';
import { parseSignedBody, publishedNames, requireShape } from './request-body.ts';
import type { Call, Route } from './routes.ts';
import { operationPath, type SandboxState } from './sandbox-state.ts';

/** Endpoint 4 of the contract. */
export function orderRoutes(state: SandboxState): Route[] {
  return [
    {
      method: 'POST',
      path: operationPath(state, 'createOrder'),
      content: 'json',
      handle: (call) => placeOrder(state, call),
    },
  ];
}

async function placeOrder(state: SandboxState, { body, ip, request }: Call): Promise<Response> {
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
  const signed = parseSignedBody(body, signingKey(partner.credentials, 'order', { scheme }), scheme);
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
