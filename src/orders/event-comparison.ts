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
import type { ObservedEvent } from './journal-types.ts';
import type { JournaledEvent } from './journaled-order.ts';
import { isUnrecognizedEvent, namedBody } from './named-order.ts';
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

/** A longer one is none, and cannot be compared. */
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
  readonly unread: readonly string[];
}

const mostUnread = 10;

export function readSeenEvent(
  observed: ObservedEvent,
  context: { readonly key?: EventSigner | undefined; readonly digest?: string | undefined } = {},
): SeenEvent {
  const named = namedBody(observed);
  const body = isJsonObject(named) ? named : {};
  const parsed = isUnrecognizedEvent(observed) ? observed : parseOrderEvent(body);
  const name = String(parsed.kind === 'known' ? parsed.event.event_name : (parsed.name ?? ''));
  const issues = parsed.kind === 'nonconforming' ? parsed.issues : [];
  const unread = issues.slice(0, mostUnread).map(({ path }) => path.join('.').slice(0, 100) || 'event_name');
  return {
    name: storableText(name.slice(0, 100)),
    digest: context.digest ?? digestOf(body, name),
    body,
    event: parsed.kind === 'known' ? parsed.event : undefined,
    unread: unread.map(storableText),
  };
}

/** Names an event that comes without a context. */
function digestOf(body: JsonObject, name: string): string {
  try {
    return hash('sha256', JSON.stringify(body), 'hex');
  } catch {
    return hash('sha256', name, 'hex');
  }
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
  const differences = differencesOf(record, seen, sameOrder);
  const logged = toLogged(seen, differences, now);
  const known = knownEvent(record.events ?? [], logged);
  const verdict = known?.decision?.verdict;
  const isRejected =
    verdict === 'rejected' ||
    (verdict === undefined && differences.some(({ member }) => isRejecting(member, rejectMismatch)));
  const timeline = isRejected ? record.timeline : withEvent(record, seen.event);
  const hasAttention = differences.length > 0 && verdict === undefined;
  // It fitted its order when it was seen first.
  const isNewlyDiffering = hasAttention && known !== undefined && known.differences === undefined;
  const event = isNewlyDiffering ? { ...known, differences: logged.differences } : (known ?? logged);
  const events =
    known === undefined
      ? appended(record.events ?? [], logged)
      : isNewlyDiffering
        ? record.events?.map((each) => (each === known ? event : each))
        : record.events;
  const isUnchanged =
    timeline === record.timeline &&
    events === record.events &&
    (!hasAttention || record.attention === 'mismatch');
  const after = {
    ...record,
    ...(timeline !== undefined && { timeline }),
    ...(events !== undefined && { events }),
    ...(hasAttention && { attention: 'mismatch' as const }),
  };
  return { record: isUnchanged ? record : after, event, isMismatch: hasAttention, isRejected };
}

/** The record once a person has decided about the undecided events among these; any other stays in sight. */
export function withDecision(
  { attention, ...record }: OrderRecord,
  digests: readonly string[],
  decision: NonNullable<JournaledEvent['decision']>,
): OrderRecord {
  const events = record.events?.map((each) =>
    isUndecided(each) && digests.includes(each.digest) ? { ...each, decision } : each,
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

function toLogged({ name, digest, unread }: SeenEvent, differences: readonly OrderDifference[], at: number) {
  return {
    ...{ name, at, digest },
    ...(differences.length > 0 && { differences: differences.map((each) => ({ ...each })) }),
    ...(unread.length > 0 && { unread: [...unread] }),
  } satisfies JournaledEvent;
}

/** The event of the log that makes another one superfluous: the same digest, or the same name where both fit. */
function knownEvent(events: readonly JournaledEvent[], event: JournaledEvent): JournaledEvent | undefined {
  const isAlike = (known: JournaledEvent) =>
    event.differences === undefined &&
    known.differences === undefined &&
    known.name === event.name &&
    String(known.unread) === String(event.unread);
  return events.find(({ digest }) => digest === event.digest) ?? events.find(isAlike);
}

const mostEvents = 32;

function appended(events: readonly JournaledEvent[], event: JournaledEvent): JournaledEvent[] {
  if (events.length < mostEvents) return [...events, event];
  if (event.differences === undefined) return [...events];
  // Keep the events that wait for a person: only one that fits, or was decided, makes room.
  const fitting = events.findIndex((each) => !each.differences);
  const replaced = fitting === -1 ? events.findIndex((each) => !isUndecided(each)) : fitting;
  return replaced === -1 ? [...events] : [...events.toSpliced(replaced, 1), event];
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
