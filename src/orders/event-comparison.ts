import type { EventSigner } from '../credentials/partner-credentials.ts';
import type { KnownOrder, SameOrder } from '../deployment/same-order.ts';
import type { OrderEvent } from '../events/order-event.ts';
import { applyEvent, toTimeline } from '../events/order-timeline.ts';
import { parseOrderEvent } from '../events/parse-order-event.ts';
import { describeError, storableText } from '../internal/driver-error.ts';
import { hash } from '../internal/hash.ts';
import { isJsonObject, type JsonObject } from '../internal/json.ts';
import { warnOnce } from '../internal/warn.ts';
import { unknownMembers } from '../store/stored-form.ts';
import type { OrderJournalOptions } from './journal-options.ts';
import type { JournaledEvent } from './journaled-order.ts';
import { isUnrecognizedEvent, namedBody, type ObservedEvent } from './named-order.ts';
import { comparedAddress, differencesFrom, type OrderDifference } from './order-differences.ts';
import { isUndecided, type OrderRecord } from './order-record.ts';

type OrderedMembers = OrderRecord['ordered'];
type RejectMismatch = NonNullable<OrderJournalOptions['rejectMismatch']>;

/** The members of a payload that are kept. The salt is new for each intent, so equal addresses have different hashes. */
export function toOrderedMembers(payload: JsonObject, salt: string): OrderedMembers {
  const { chain, fiat_currency, fiat_amount, buyer_crypto_address: address } = payload;
  return {
    ...(isShort(chain) && { chain }),
    ...(isShort(fiat_currency) && { fiat_currency }),
    ...(isShort(fiat_amount) && { fiat_amount }),
    ...(typeof address === 'string' && address !== '' && { salt, address: saltedHash(salt, address) }),
  };
}

/** A longer text cannot be compared. */
function isShort(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 100 && value === storableText(value);
}

function saltedHash(salt: string, address: string): string {
  return hash('sha256', `${salt}:${comparedAddress(address)}`, 'hex');
}

/** A verified event, as far as it can be read. */
export interface SeenEvent {
  readonly name: string;
  readonly digest: string;
  readonly body: JsonObject;
  /** The event, if it is a published one that can be read. */
  readonly event?: OrderEvent | undefined;
}

export function readSeenEvent(
  observed: ObservedEvent,
  context: { readonly key?: EventSigner | undefined; readonly digest?: string | undefined } = {},
): SeenEvent {
  const named = namedBody(observed);
  const body = isJsonObject(named) ? named : {};
  const parsed = isUnrecognizedEvent(observed) ? observed : parseOrderEvent(body);
  const name = String(parsed.kind === 'known' ? parsed.event.event_name : (parsed.name ?? ''));
  return {
    name: storableText(name.slice(0, 100)),
    // Without a context the event itself names it.
    digest: context.digest ?? hash('sha256', JSON.stringify(body), 'hex'),
    body,
    event: parsed.kind === 'known' ? parsed.event : undefined,
  };
}

export interface ComparisonRules {
  /** Which differences reject an event. */
  readonly rejectMismatch: RejectMismatch;
  readonly sameOrder: SameOrder | undefined;
  readonly now: number;
}

/** A record after an event. */
export interface ComparedRecord {
  readonly record: OrderRecord;
  /** The event, as the record has it. */
  readonly event: JournaledEvent;
  /** The event differs from its order, and waits for a decision. */
  readonly isMismatch: boolean;
  /** A handler must not act on the event. */
  readonly isRejected: boolean;
}

/** Adds an event to the record, unless it adds nothing. The timeline has what handlers may act on. */
export function withSeenEvent(
  record: OrderRecord,
  seen: SeenEvent,
  { rejectMismatch, sameOrder, now }: ComparisonRules,
): ComparedRecord {
  const { events: log = [] } = record;
  const differences = differencesOf(record, seen, sameOrder);
  const known = knownEvent(log, seen, differences);
  const verdict = known?.decision?.verdict;
  const isMismatch = differences.length > 0 && verdict === undefined;
  const isRejected =
    verdict === 'rejected' ||
    (isMismatch && differences.some(({ member }) => isRejecting(member, rejectMismatch)));
  const timeline = isRejected ? record.timeline : withEvent(record, seen.event);
  // An event that fitted its order when it was seen first may differ now: the deployment has another `sameOrder`.
  const isLogged = known !== undefined && (!isMismatch || known.differences !== undefined);
  const { name, digest } = seen;
  const event: JournaledEvent = isLogged
    ? known
    : { ...(known ?? { name, at: now, digest }), ...(isMismatch && { differences }) };
  const events = isLogged ? record.events : logged(log, event, known);
  const isUnchanged =
    timeline === record.timeline &&
    events === record.events &&
    (!isMismatch || record.attention === 'mismatch');
  const after = {
    ...record,
    ...(timeline !== undefined && { timeline }),
    ...(events !== undefined && { events }),
    ...(isMismatch && { attention: 'mismatch' as const }),
  };
  return { record: isUnchanged ? record : after, event, isMismatch, isRejected };
}

/** The record once a person has decided about the undecided events among these; any other stays in sight. */
export function withDecision(
  { attention, ...record }: OrderRecord,
  digests: readonly string[],
  decision: NonNullable<JournaledEvent['decision']>,
): OrderRecord {
  const events = record.events?.map((event) =>
    isUndecided(event) && digests.includes(event.digest) ? { ...event, decision } : event,
  );
  const isOpen = events?.some(isUndecided) === true;
  return { ...record, ...(events !== undefined && { events }), ...(isOpen && { attention }) };
}

function isRejecting(member: OrderDifference['member'], rules: RejectMismatch): boolean {
  if (rules === 'never') return false;
  return rules === 'any' || member === 'buyer_crypto_address' || member === 'order';
}

function differencesOf(
  { ordered, partner_order_id }: OrderRecord,
  { body, event }: SeenEvent,
  sameOrder: SameOrder | undefined,
): readonly OrderDifference[] {
  const { chain, fiat_currency, fiat_amount, salt, address } = ordered;
  const order: KnownOrder = {
    ...{ partner_order_id, chain, fiat_currency, fiat_amount },
    isAddress: (reported) =>
      salt === undefined || address === undefined || saltedHash(salt, reported) === address,
  };
  const differences = differencesFrom(event ?? body, order);
  const verdict = sameOrder && verdictOf(() => sameOrder(order, body));
  if (verdict === true) return [];
  return verdict === false ? [...differences, { member: 'order' }] : differences;
}

function verdictOf(decide: () => boolean | undefined): boolean | undefined {
  try {
    return decide();
  } catch (error) {
    warnOnce(`sameOrder threw, so an event is compared as without it: ${describeError(error)}`);
    return undefined;
  }
}

/** The event of the log that makes another one superfluous: the same digest, or the same name where both fit. */
function knownEvent(
  log: readonly JournaledEvent[],
  { name, digest }: SeenEvent,
  differences: readonly OrderDifference[],
): JournaledEvent | undefined {
  const isAlike = (known: JournaledEvent) =>
    differences.length === 0 && known.differences === undefined && known.name === name;
  return log.find((known) => known.digest === digest) ?? log.find(isAlike);
}

const mostEvents = 32;

/** The log with an event, in the place of a former one if there is one; unchanged if there is no room. */
function logged(
  log: readonly JournaledEvent[],
  event: JournaledEvent,
  former: JournaledEvent | undefined,
): readonly JournaledEvent[] {
  if (former !== undefined) return log.map((known) => (known === former ? event : known));
  if (log.length < mostEvents) return [...log, event];
  if (event.differences === undefined) return log;
  // Keep the events that wait for a person: only one that fits, or was decided, makes room.
  const fitting = log.findIndex((known) => known.differences === undefined);
  const replaced = fitting === -1 ? log.findIndex((known) => !isUndecided(known)) : fitting;
  return replaced === -1 ? log : [...log.toSpliced(replaced, 1), event];
}

function withEvent(record: OrderRecord, event: OrderEvent | undefined): OrderRecord['timeline'] {
  if (event === undefined) return record.timeline;
  const { partner_order_id, ordered, timeline: stored } = record;
  const before = toTimeline(partner_order_id, stored ?? { seen: [], facts: {} });
  const after = applyEvent(before, withHashedAddress(event, ordered.salt));
  if (after === before) return stored;
  const { seen, facts } = after;
  // A newer version may know more events and facts.
  const later = stored?.seen.filter((name) => !seen.includes(name)) ?? [];
  return {
    ...stored,
    seen: [...seen, ...later],
    facts: { ...unknownMembers(stored?.facts, facts), ...facts },
  };
}

function withHashedAddress(event: OrderEvent, salt = ''): OrderEvent {
  const { buyer_crypto_address: address } = event;
  if (typeof address !== 'string') return event;
  return { ...event, buyer_crypto_address: saltedHash(salt, address) };
}
