import { signingKey } from '../../credentials/signing-key.ts';
import { toWireNames } from '../../deployment/wire-names.ts';
import type { SandboxOrder } from '../orders/sandbox-order.ts';
import type { SandboxState } from '../sandbox-state.ts';
import type { SandboxDelivery } from './delivery-queue.ts';
import { eventText } from './event-text.ts';
import { eventNames, orderEventBody } from './order-event-body.ts';

/** Signs and posts the event for the state that an order is in (contract: Endpoints 5). */
export function postEvent(state: SandboxState, order: SandboxOrder): Promise<SandboxDelivery> {
  const { deployment, options, partners, deliveryQueue } = state;
  // The current keys: after a rotation the events of older orders are signed with the new ones.
  const { credentials } = partners.byId(order.partnerId);
  const scheme = deployment.signature;
  const body = eventText(toWireNames(orderEventBody(order, options), deployment.wireNames), {
    key: signingKey(credentials, 'order', { scheme }),
    scheme,
    spelling: options.eventSpelling,
  });
  return deliveryQueue.post({
    name: eventNames[order.state],
    platform_order_ref: order.platform_order_ref,
    url: order.partner_callback_url,
    body,
    publicKey: credentials.partnerPublicKey,
  });
}
