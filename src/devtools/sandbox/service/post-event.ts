import { merchantsFor, signingKey } from '../../../credentials/signing-key.ts';
import { otherExample } from '../../../deployment/addresses/example-addresses.ts';
import { toWireNames } from '../../../deployment/wire-names.ts';
import type { OrderEventName } from '../../../events/order-event.ts';
import { hash } from '../../../internal/hash.ts';
import type { JsonObject, JsonValue } from '../../../internal/json.ts';
import type { EventFaultName } from '../settings/event-faults.ts';
import type { EventFault } from '../settings/faults.ts';
import type { SandboxCredentials } from '../settings/fixed-partners.ts';
import { hookedEvent } from '../settings/hooks.ts';
import type { EventSpelling } from '../settings/sandbox-options.ts';
import { type SeededRandom, seededRandom } from '../settings/seeded-random.ts';
import {
  eventText,
  foreignKey,
  sellSideEvent,
  sellSideNames,
  tamperedText,
  unfamiliarEvent,
  withExtraMembers,
} from '../wire/event-text.ts';
import {
  changeMember,
  drawMember,
  type EventDraft,
  type MemberChangeName,
  memberPaths,
  setMember,
} from '../wire/member-changes.ts';
import {
  type DeliverySchedule,
  eventHeaders,
  type QueuedEvent,
  type SandboxDelivery,
} from '../world/delivery.ts';
import type { SandboxOrder } from '../world/order-registry.ts';
import type { SandboxState } from '../world/state.ts';
import { eventNames, orderEventBody } from './state-bodies.ts';

interface PostedEvent {
  /** Whether the order's reply waits for the answer to this event. */
  readonly isBeforeReply: boolean;
  /** Resolves when it was answered, or at once if it is held back. Never rejects. */
  readonly delivery: Promise<SandboxDelivery>;
}

/** How a fault is played: with the event itself, or as another event before it. */
type EventPlay =
  | { readonly schedule: (fault: EventFault) => DeliverySchedule }
  | { readonly change: (draft: EventDraft, fault: EventFault, random: SeededRandom) => EventDraft }
  | { readonly isBeforeReply: true }
  | { readonly spelling: EventSpelling }
  | { readonly keys: 'earlier' }
  | { readonly other: (genuine: EventToSign, random: SeededRandom) => EventToSign };

/** An event before it is signed. */
interface EventToSign {
  readonly draft: EventDraft;
  /** Signs it in place of the key of its order. */
  readonly key?: string;
  /** Changes the signed text. */
  readonly tamper?: (text: string) => string;
}

/** Every fault of an event. A later one overrides an earlier one. */
const plays: Record<EventFaultName, EventPlay> = {
  duplicate: { schedule: () => ({ copies: 'duplicate' }) },
  concurrent_duplicate: { schedule: () => ({ copies: 'concurrent_duplicate' }) },
  reorder: { schedule: () => ({ isHeld: true }) },
  delay: { schedule: ({ delayMs }) => ({ delayMs }) },
  drop: { schedule: () => ({ isDropped: true }) },
  before_reply: { isBeforeReply: true },
  old_key: { keys: 'earlier' },
  forged: { other: (genuine, random) => ({ ...genuine, key: foreignKey(random) }) },
  tampered: { other: (genuine) => ({ ...genuine, tamper: tamperedText }) },
  unfamiliar_name: { other: ({ draft }) => ({ draft: { ...draft, body: unfamiliarEvent(draft.body) } }) },
  extra_members: { change: (draft) => ({ ...draft, body: withExtraMembers(draft.body) }) },
  awkward_spelling: { spelling: 'awkward' },
  member_missing: changesTo('missing'),
  member_null: changesTo('null'),
  member_type: changesTo('text', 'number', 'boolean', 'list'),
  member_renamed: changesTo('renamed'),
  member_nested: changesTo('nested'),
  member_long: changesTo('long'),
  member_repeated: changesTo('repeated'),
  status_respelled: {
    change: (draft, { member }, random) => {
      const statuses = memberPaths(draft.body).filter((path) => statusMembers.includes(path));
      return changeMember(draft, member ?? pick(statuses, random) ?? '', 'respelled');
    },
  },
  name_respelled: {
    change: (draft, _, random) => {
      const name = String(draft.body.event_name);
      const spellings = [name.replaceAll('.', ' '), name.toUpperCase(), name.replaceAll('.', '_')];
      return setMember(draft, 'event_name', pick(spellings, random) ?? name);
    },
  },
  credits_elsewhere: contradicting('buyer_crypto_address', otherAddress),
  other_chain: contradicting('chain', (chain) => (chain === 'usdt-trc20' ? 'usdc-matic' : 'usdt-trc20')),
  other_currency: contradicting('fiat_currency', (currency) => (currency === 'NGN' ? 'GHS' : 'NGN')),
  amount_differs: contradicting('fiat_amount_to_pay', otherAmount),
  sell_side: {
    other: ({ draft: { body } }, random) => ({
      draft: { body: sellSideEvent(body, pick(sellSideNames, random) ?? ''), repeated: [] },
    }),
  },
};

/** Changes one member of an event that repeats what was ordered. */
function contradicting(member: string, change: (value: JsonValue) => JsonValue): EventPlay {
  return {
    change(draft) {
      const { [member]: value } = draft.body;
      return value === undefined || value === null ? draft : setMember(draft, member, change(value));
    },
  };
}

/** One more, where a service that writes amounts in its own way has left a number. */
function otherAmount(amount: JsonValue): JsonValue {
  const other = Number(amount) + 1;
  return Number.isFinite(other) ? other : amount;
}

/** An address of the same form that nobody holds; another text where its form is not known. */
function otherAddress(address: JsonValue): JsonValue {
  const text = String(address);
  if (text.startsWith('0x')) return `0x${hash('sha256', text, 'hex').slice(0, 40)}`;
  const other = text.startsWith('T') ? otherExample(text) : undefined;
  return other ?? `${text.slice(0, -1)}${text.endsWith('2') ? '3' : '2'}`;
}

const statusMembers: readonly string[] = [
  'fiat_payment_status',
  'crypto_payment_status',
  'kyc_error_type',
  'meta_data.status',
];

/** Changes the member that the fault names, or any one that is not of this type already. */
function changesTo(...changes: readonly [MemberChangeName, ...MemberChangeName[]]): EventPlay {
  return {
    change(draft, { member }, random) {
      const path = member ?? drawMember(draft.body, random);
      const change = pick(changes, random) ?? changes[0];
      const changed = changeMember(draft, path, change);
      if (changed === draft || changes.length === 1) return changed;
      // A text as a text has not changed its type.
      const [documented, other] = [draft, changed].map(({ body }) => JSON.stringify(body));
      return documented === other ? changeMember(draft, path, 'list') : changed;
    },
  };
}

function pick<Item>(items: readonly Item[], random: SeededRandom): Item | undefined {
  return items[Math.floor(random.fraction() * items.length)];
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
  // The current keys, as after a rotation the events of older orders are signed with the new ones.
  const { credentials } = partner;
  const draft: EventDraft = { body, repeated: [] };
  const event = (
    { draft, key, tamper = (text) => text }: EventToSign,
    details: { faults: readonly EventFaultName[]; spelling?: EventSpelling; keys?: SandboxCredentials },
  ): QueuedEvent => {
    const { faults, spelling = options.eventSpelling, keys = credentials } = details;
    const { event_name } = draft.body;
    return {
      name: typeof event_name === 'string' ? event_name : name,
      platform_order_ref: order.platform_order_ref,
      partner_order_id: order.partner_order_id,
      url: order.partner_callback_url,
      body: tamper(signedText(state, draft, key ?? orderKey(state, keys, order), spelling)),
      publicKey: keys.partnerPublicKey,
      headers: eventHeaders(keys.partnerPublicKey, options.callbackContentType),
      faults,
    };
  };

  let own: { draft: EventDraft; spelling?: EventSpelling; keys?: SandboxCredentials } = { draft };
  let schedule: DeliverySchedule = {};
  let isBeforeReply = false;
  const faults: EventFaultName[] = [];
  for (const fault of list) {
    const { kind } = fault;
    trace.add({ kind: 'fault', event: name, order: order.partner_order_id, faults: [kind] });
    const play = plays[kind];
    if ('other' in play) {
      void deliveryQueue.post(event(play.other({ draft }, random), { faults: [kind] }));
      continue;
    }
    faults.push(kind);
    if ('schedule' in play) schedule = { ...schedule, ...play.schedule(fault) };
    else if ('change' in play) own = { ...own, draft: play.change(own.draft, fault, random) };
    else if ('spelling' in play) own = { ...own, spelling: play.spelling };
    else if ('keys' in play) own = { ...own, keys: partner.earlier?.[0]?.credentials ?? credentials };
    else isBeforeReply = true;
  }
  return { isBeforeReply, delivery: deliveryQueue.post(event(own, { ...own, faults }), schedule) };
}

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
  draft: EventDraft,
  key: string,
  spelling: EventSpelling,
): string {
  const { wireNames, signature: scheme } = deployment;
  const body = toWireNames(draft.body, wireNames);
  const repeated = draft.repeated.map(({ path: [name = '', ...inner], value }) => {
    // Sound: a name that is no key of the table has no other one.
    return { path: [wireNames[name as keyof typeof wireNames] ?? name, ...inner], value };
  });
  return eventText(body, { key, scheme, spelling, repeated });
}

/** Posts a copy signed with a key that was never issued. @throws {ValidationError} for an unknown delivery */
export function forgeEvent(state: SandboxState, deliveryId: string): Promise<SandboxDelivery> {
  const { deliveryQueue, deployment, options } = state;
  const event = deliveryQueue.eventOf(deliveryId);
  // Sound: the sandbox wrote this object.
  const { signature: _, ...body } = JSON.parse(event.body) as JsonObject;
  const key = foreignKey(seededRandom(options.seed, `forged ${deliveryId}`));
  const scheme = deployment.signature;
  const text = eventText(body, { key, scheme, spelling: 'compact' });
  return deliveryQueue.post({ ...event, body: text, faults: ['forged'] });
}

/** Posts a copy with another amount. @throws {ValidationError} for an unknown delivery */
export function tamperEvent({ deliveryQueue }: SandboxState, deliveryId: string): Promise<SandboxDelivery> {
  const event = deliveryQueue.eventOf(deliveryId);
  return deliveryQueue.post({ ...event, body: tamperedText(event.body), faults: ['tampered'] });
}
