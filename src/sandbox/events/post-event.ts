import { merchantsFor, signingKey } from '../../credentials/signing-key.ts';
import { toWireNames } from '../../deployment/wire-names.ts';
import type { JsonObject } from '../../internal/json.ts';
import type { EventFaultName } from '../faults/faults.ts';
import type { SandboxOrder } from '../orders/order-registry.ts';
import type { SandboxCredentials } from '../partners/fixed-partners.ts';
import { seededRandom } from '../seeded-random.ts';
import type { SandboxState } from '../state.ts';
import type { DeliverySchedule, QueuedEvent, SandboxDelivery } from './delivery.ts';
import { eventNames, orderEventBody } from './event-body.ts';
import {
  type EventSpelling,
  eventText,
  foreignKey,
  tamperedText,
  unfamiliarEvent,
  unfamiliarName,
  withExtraMembers,
} from './event-text.ts';

interface PostedEvent {
  /** Whether the order's reply waits for the answer to this event. */
  readonly isBeforeReply: boolean;
  /** Resolves when it was answered, or at once if it is held back. Never rejects. */
  readonly delivery: Promise<SandboxDelivery>;
}

/** Signs and posts the event for an order's current state (contract: Endpoints 5), with the faults drawn for it. */
export function postEvent(state: SandboxState, order: SandboxOrder): PostedEvent {
  const { options, partners, deliveryQueue, trace } = state;
  const name = eventNames[order.state];
  const { list, find, random } = state.faults.forEvent(name, `${order.partner_order_id} ${order.state}`);
  const partner = partners.byId(order.partnerId);
  // The current keys, as after a rotation the events of older orders are signed with the new ones.
  const { credentials } = partner;
  const keys = (find('old_key') && partner.earlier?.[0]?.credentials) ?? credentials;
  const body = orderEventBody(order, options);
  const spelling = find('awkward_spelling') ? 'awkward' : options.eventSpelling;
  const event = (
    content: JsonObject,
    signedWith: SandboxCredentials,
    details: { name?: string; faults: readonly EventFaultName[]; key?: string },
  ): QueuedEvent => ({
    name: details.name ?? name,
    platform_order_ref: order.platform_order_ref,
    partner_order_id: order.partner_order_id,
    url: order.partner_callback_url,
    body: signedText(state, content, details.key ?? orderKey(state, signedWith, order), spelling),
    publicKey: signedWith.partnerPublicKey,
    faults: details.faults,
  });

  for (const { kind } of list) {
    trace.add({ kind: 'fault', event: name, order: order.partner_order_id, faults: [kind] });
  }
  if (find('forged')) {
    void deliveryQueue.post(event(body, credentials, { faults: ['forged'], key: foreignKey(random) }));
  }
  if (find('tampered')) {
    const genuine = event(body, credentials, { faults: ['tampered'] });
    void deliveryQueue.post({ ...genuine, body: tamperedText(genuine.body) });
  }
  if (find('unfamiliar_name')) {
    const faults = ['unfamiliar_name'] as const;
    void deliveryQueue.post(event(unfamiliarEvent(body), credentials, { name: unfamiliarName, faults }));
  }
  const faults = list.map(({ kind }) => kind).filter((kind) => !additional.has(kind));
  const content = find('extra_members') ? withExtraMembers(body) : body;
  const schedule: DeliverySchedule = {
    isDropped: find('drop') !== undefined,
    isHeld: find('reorder') !== undefined,
    delayMs: find('delay')?.delayMs,
    copies: find('concurrent_duplicate') ? 'concurrent_duplicate' : find('duplicate') && 'duplicate',
  };
  return {
    isBeforeReply: find('before_reply') !== undefined,
    delivery: deliveryQueue.post(event(content, keys, { faults }), schedule),
  };
}

/** These faults are separate events, and not faults of the genuine one. */
const additional: ReadonlySet<EventFaultName> = new Set(['forged', 'tampered', 'unfamiliar_name']);

/** With several merchants, the key of the order's currency. */
export function orderKey(
  { deployment }: SandboxState,
  credentials: SandboxCredentials,
  { fiat_currency }: { fiat_currency: unknown },
): string {
  const scheme = deployment.signature;
  const merchant = merchantsFor(credentials, scheme).find((name) => name === fiat_currency);
  return signingKey(credentials, 'order', { scheme, merchant });
}

function signedText(
  { deployment }: SandboxState,
  body: JsonObject,
  key: string,
  spelling: EventSpelling,
): string {
  return eventText(toWireNames(body, deployment.wireNames), { key, scheme: deployment.signature, spelling });
}

/** Posts a copy signed with a key that was never issued. @throws {ValidationError} for an unknown delivery */
export function forgeEvent(state: SandboxState, deliveryId: string): Promise<SandboxDelivery> {
  const { deliveryQueue, deployment, options } = state;
  const event = deliveryQueue.eventOf(deliveryId);
  // Sound: the sandbox wrote this object.
  const { signature: _, ...body } = JSON.parse(event.body) as JsonObject;
  const key = foreignKey(seededRandom(options.seed, `forged ${deliveryId}`));
  const text = eventText(body, { key, scheme: deployment.signature, spelling: 'compact' });
  return deliveryQueue.post({ ...event, body: text, faults: ['forged'] });
}

/** Posts a copy with another amount. @throws {ValidationError} for an unknown delivery */
export function tamperEvent({ deliveryQueue }: SandboxState, deliveryId: string): Promise<SandboxDelivery> {
  const event = deliveryQueue.eventOf(deliveryId);
  return deliveryQueue.post({ ...event, body: tamperedText(event.body), faults: ['tampered'] });
}
