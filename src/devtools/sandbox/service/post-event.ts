import { merchantsFor, signingKey } from '../../../credentials/signing-key.ts';
import { toWireNames } from '../../../deployment/wire-names.ts';
import type { OrderEventName } from '../../../events/order-event.ts';
import type { JsonObject } from '../../../internal/json.ts';
import type { EventFaultName } from '../settings/event-faults.ts';
import type { SandboxCredentials } from '../settings/fixed-partners.ts';
import { hookedEvent } from '../settings/hooks.ts';
import { seededRandom } from '../settings/seeded-random.ts';
import { eventText, foreignKey, tamperedText } from '../wire/event-text.ts';
import type { QueuedEvent, SandboxDelivery } from '../world/delivery.ts';
import type { SandboxOrder } from '../world/order-registry.ts';
import type { SandboxState } from '../world/state.ts';
import { type EventPlan, eventPlays, type SignedDraft } from './event-plays.ts';
import { eventNames, orderEventBody } from './state-bodies.ts';

interface PostedEvent {
  /** Whether the order's reply waits for the answer to this event. */
  readonly isBeforeReply: boolean;
  /** Resolves when it was answered, or at once if it is held back. Never rejects. */
  readonly delivery: Promise<SandboxDelivery>;
}

/** The event of an order in its current state, before it is signed. */
export interface SandboxEvent {
  readonly order: SandboxOrder;
  readonly name: OrderEventName;
  readonly body: JsonObject;
}

/** @throws {ConfigurationError} `invalid_option` if the option `event` fails */
export function sandboxEvent({ options }: SandboxState, order: SandboxOrder): SandboxEvent {
  const name = eventNames[order.state];
  const body = orderEventBody(order, options);
  return { order, name, body: options.event === undefined ? body : hookedEvent(options.event, body, name) };
}

/** Signs and posts the event of an order (contract: Endpoints 5), with the faults drawn for it. */
export function postEvent(state: SandboxState, { order, name, body }: SandboxEvent): PostedEvent {
  const { options, partners, deliveryQueue, trace } = state;
  const { list, random } = state.faults.forEvent(name, `${order.partner_order_id} ${order.state}`);
  const partner = partners.byId(order.partnerId);
  let plan: EventPlan = {
    partner,
    draft: { body, repeated: [] },
    spelling: options.eventSpelling,
    // The current keys, as after a rotation the events of older orders are signed with the new ones.
    credentials: partner.credentials,
    schedule: {},
    isBeforeReply: false,
    others: [],
  };
  for (const fault of list) {
    trace.add({ kind: 'fault', event: name, order: order.partner_order_id, faults: [fault.kind] });
    plan = eventPlays[fault.kind](plan, fault, random);
  }
  const queued = (event: SignedDraft, faults: readonly EventFaultName[]): QueuedEvent => {
    const { event_name } = event.draft.body;
    return {
      name: typeof event_name === 'string' ? event_name : name,
      platform_order_ref: order.platform_order_ref,
      partner_order_id: order.partner_order_id,
      url: order.partner_callback_url,
      body: signedText(state, order, event),
      publicKey: event.credentials.partnerPublicKey,
      faults,
    };
  };
  for (const other of plan.others) void deliveryQueue.post(queued(other, [other.fault]));
  const posted = plan.others.map(({ fault }) => fault);
  const faults = list.map(({ kind }) => kind).filter((kind) => !posted.includes(kind));
  return {
    isBeforeReply: plan.isBeforeReply,
    delivery: deliveryQueue.post(queued(plan, faults), plan.schedule),
  };
}

/** The key that signs an order's events: with several merchants, that of the order's currency. */
export function orderKey(
  { deployment }: SandboxState,
  credentials: SandboxCredentials,
  { fiat_currency }: { fiat_currency: unknown },
): string {
  const scheme = deployment.signature;
  const merchant = merchantsFor(credentials, scheme).find((name) => name === fiat_currency);
  return signingKey(credentials, 'order', { scheme, merchant });
}

function signedText(state: SandboxState, order: SandboxOrder, event: SignedDraft): string {
  const { draft, spelling, credentials, key = orderKey(state, credentials, order), tamper } = event;
  const { wireNames, signature: scheme } = state.deployment;
  const body = toWireNames(draft.body, wireNames);
  const repeated = draft.repeated.map(({ path: [name = '', ...inner], value }) => {
    // Sound: a name that is no key of the table has no other one.
    return { path: [wireNames[name as keyof typeof wireNames] ?? name, ...inner], value };
  });
  const text = eventText(body, { key, scheme, spelling, repeated });
  return tamper === undefined ? text : tamper(text);
}

/** Posts an event again, or a copy that a receiver has to refuse. @throws {ValidationError} for an unknown delivery */
export function postAgain(
  { deliveryQueue, deployment, options }: SandboxState,
  deliveryId: string,
  as: 'again' | 'forged' | 'tampered',
): Promise<SandboxDelivery> {
  if (as === 'again') return deliveryQueue.redeliver(deliveryId);
  const event = deliveryQueue.eventOf(deliveryId);
  if (as === 'tampered') {
    return deliveryQueue.post({ ...event, body: tamperedText(event.body), faults: ['tampered'] });
  }
  // Sound: the sandbox wrote this object.
  const { signature: _, ...body } = JSON.parse(event.body) as JsonObject;
  const key = foreignKey(seededRandom(options.seed, `forged ${deliveryId}`));
  const text = eventText(body, { key, scheme: deployment.signature, spelling: 'compact' });
  return deliveryQueue.post({ ...event, body: text, faults: ['forged'] });
}
