import { callRows } from '../client/call-options.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import { storableText } from '../internal/driver-error.ts';
import {
  checkOneOf,
  defineOptions,
  flag,
  integer,
  invalidOption,
  type OptionTable,
  optional,
  text,
} from '../internal/options.ts';
import { isAhead } from '../store/lease.ts';
import { checkStore } from '../store/record-store.ts';
import {
  type JournalSettings,
  type OrderJournalOptions,
  type OrderSender,
  readJournalOptions,
} from './journal-options.ts';
import type {
  CreatedOrder,
  CreateOrderOptions,
  JournalHealth,
  ListOrdersOptions,
  OrderJournal,
  PrepareOrderOptions,
  SettleOptions,
  UnsettledOptions,
} from './journal-types.ts';
import type { JournaledOrder } from './journaled-order.ts';
import { observeOrder } from './observe-event.ts';
import type { OpenOrder } from './open-orders.ts';
import { OrderAttempts } from './order-attempts.ts';
import { isFilled } from './order-differences.ts';
import { orderNotFound } from './order-errors.ts';
import { RunningLoop } from './order-loop.ts';
import { isOverdue, isUnsettled, type OrderRecord, stateAt, toJournaledOrder } from './order-record.ts';
import type { OrderState } from './order-state.ts';
import { OrderStore } from './order-store.ts';
import { reconcileOrders } from './reconcile.ts';
import { SettledReports } from './settled-reports.ts';
import { beginAttempt, prepareOrder, settleOrder } from './transitions.ts';

const longestNote = 1000;

function isNote(value: unknown): value is string {
  return isFilled(value) && value.length <= longestNote;
}

const intentRows = {
  merchant: optional(text()),
  /** It is kept as a note is. */
  acceptAddress: optional((given, name) => {
    if (isNote(given)) return storableText(given);
    throw invalidOption(`${name} must be a text of 1 to ${longestNote} characters.`);
  }),
  replace: flag({ default: false }),
};

const readCreateOptions = defineOptions('create', {
  ...callRows,
  ...intentRows,
  again: flag({ default: false }),
} satisfies OptionTable<CreateOrderOptions>);

const readPrepareOptions = defineOptions('prepare', {
  ...intentRows,
  store: optional(checkStore),
} satisfies OptionTable<PrepareOrderOptions>);

const readUnsettledOptions = defineOptions('unsettled', {
  olderThanMs: integer({ default: 0, least: 0 }),
  limit: integer({ default: 1000 }),
} satisfies OptionTable<UnsettledOptions>);

export const decisions = ['accepted', 'abandoned', 'rejected'] as const;

const readSettleOptions = defineOptions('settle', {
  events: optional((given, name) => {
    if (Array.isArray(given) && given.length > 0 && given.every(isFilled)) return given;
    throw invalidOption(`${name} must be a list of digests of events.`);
  }),
} satisfies OptionTable<SettleOptions>);

const readListOptions = defineOptions('list', {
  attention: flag({ default: false }),
} satisfies OptionTable<ListOrdersOptions>);

/**
 * Keeps a journal of orders, so that none is sent twice and none is forgotten: see {@link OrderJournal}.
 *
 * @throws {ConfigurationError} `invalid_option`
 * @example
 * ```ts
 * const journal = createOrderJournal({ exchange, store: sqliteStore({ path: 'orders.sqlite' }) });
 * // It runs before the handler of each name, and stops an event with another address than the order's. Of an event
 * // that cannot be read it takes the evidence, and throws: the event becomes a dead letter, or is answered 500.
 * webhooks.onAny(journal.observe).onUnrecognized(journal.observe);
 *
 * const { state, order, reply, error } = await journal.create(buyOrder);
 * ```
 */
export function createOrderJournal<Order = BuyOrder>(
  options: OrderJournalOptions<Order>,
): OrderJournal<Order> {
  // Sound: the table returns the sender that it was given.
  const settings = readJournalOptions(options) as JournalSettings & { exchange: OrderSender<Order> };
  const { now } = settings;
  const records = new OrderStore(settings);
  const attempts = new OrderAttempts(settings, records);
  const reports = new SettledReports(settings, records);
  const show = (record: OrderRecord) => toJournaledOrder(record, now());

  async function create(order: Order, createOptions: CreateOrderOptions = {}): Promise<CreatedOrder> {
    const { merchant, acceptAddress, again, replace, ...call } = readCreateOptions(createOptions);
    const checked = await attempts.check(order, { merchant, acceptAddress });
    const rules = { again, replace, resendUnknown: settings.resendUnknown };
    const made = await attempts.attempt(checked, {
      begin: (record, lease) => beginAttempt(record, checked.intent, { ...rules, ...lease }),
      call,
      reports: false,
    });
    // The state of another order says nothing about this one.
    if (made.kind === 'denied' && (made.record === undefined || made.error.code === 'different_order'))
      throw made.error;
    // Sound: `denied` without a record was thrown.
    const journaled = show(made.record as OrderRecord);
    const reply = made.kind === 'sent' && 'reply' in made.sent ? made.sent.reply : undefined;
    const failure = made.kind === 'sent' ? attempts.failureOf(made.record, made.sent) : undefined;
    // Sound: a client fails with errors.
    const error = made.kind === 'denied' ? made.error : (failure as Error | undefined);
    return { state: journaled.state, order: journaled, ...(reply && { reply }), ...(error && { error }) };
  }

  return {
    // Sound: with a schema the body is the schema's, without one `unknown`.
    create: create as OrderJournal<Order>['create'],

    start: (startOptions) => {
      const loop = new RunningLoop(startOptions, { settings, records, attempts, reports });
      return { stop: () => loop.stop() };
    },

    async prepare(order, prepareOptions = {}) {
      const { store, replace, ...given } = readPrepareOptions(prepareOptions);
      const { intent } = await attempts.check(order, given);
      const id = intent.partner_order_id;
      const { after } = await records.update(
        id,
        (record) => prepareOrder(record, intent, { replace, now: now() }),
        store,
      );
      return show(after);
    },

    observe: (event, context) => observeOrder(event, context, { settings, records, reports }),

    async get(partnerOrderId) {
      const record = await records.read(checkId(partnerOrderId));
      return record && show(record);
    },

    async unsettled(unsettledOptions = {}) {
      const orders = await unsettledOrders(records, { ...readUnsettledOptions(unsettledOptions), now });
      return orders.map(show);
    },

    list(listOptions = {}) {
      const { attention } = readListOptions(listOptions);
      return listed();
      async function* listed(): AsyncGenerator<JournaledOrder, void, undefined> {
        for await (const record of attention ? ordersNeedingAttention(records) : records.all())
          yield show(record);
      }
    },

    reconcile: (reconcileOptions) => reconcileOrders(reconcileOptions, { records, now: now() }),

    health: () => countOpenOrders(records, now),

    async settle(partnerOrderId, decision, note, settleOptions = {}) {
      checkOneOf('The decision', decision, decisions);
      const { events } = readSettleOptions(settleOptions);
      if (decision !== 'accepted' && (decision === 'rejected') !== (events !== undefined))
        throw invalidOption('events belong to accepted and rejected, which is for events alone.');
      if (!isNote(note)) throw invalidOption(`The note must be a text of 1 to ${longestNote} characters.`);
      const settlement = { decision, note: storableText(note), events, now: now() };
      const acceptedBefore = records.acceptedBefore();
      const { before, after } = await records.update(
        checkId(partnerOrderId),
        (record) => record && reports.mark(record, settleOrder(record, { ...settlement, acceptedBefore })),
      );
      if (after === undefined) throw orderNotFound(partnerOrderId);
      await reports.callAfter(before, after);
      return show(after);
    },
  };
}

function checkId(partnerOrderId: string): string {
  if (isFilled(partnerOrderId)) return partnerOrderId;
  throw invalidOption('The partner_order_id must be a text.');
}

/** Counts what is open. Reads the index alone, and no order. */
export async function countOpenOrders(records: OrderStore, now: () => number): Promise<JournalHealth> {
  const open = await records.openOrders();
  const overdue = { acceptedBefore: records.acceptedBefore(), now: now() };
  const unsettled = open.filter(isUnsettled);
  const states = unsettled.map((order) => stateAt(order, overdue.now));
  const count = (wanted: OrderState) => states.filter((state) => state === wanted).length;
  const [oldest] = unsettled;
  return {
    prepared: count('prepared'),
    sending: count('sending'),
    waiting: count('waiting'),
    'not-sent': count('not-sent'),
    unknown: count('unknown'),
    unsettled: unsettled.length,
    oldestAgeMs: oldest === undefined ? null : Math.max(0, overdue.now - oldest.openedAt),
    withoutEvent: open.filter((order) => isOverdue(order, overdue)).length,
    mismatches: open.filter(({ attention }) => attention === 'mismatch').length,
    unreported: open.filter(({ unreported }) => unreported === true).length,
    unwritten: records.unwritten,
  };
}

/** The orders that need a person. */
export async function* ordersNeedingAttention(records: OrderStore): AsyncGenerator<OrderRecord> {
  const wanted = (await records.openOrders()).filter(({ attention }) => attention !== undefined);
  for await (const record of readChunks(records, wanted)) {
    // It may have been decided meanwhile.
    if (record.attention !== undefined) yield record;
  }
}

/** The orders that have been unsettled longest come first, then those that have waited longest for an event. */
export async function unsettledOrders(
  records: OrderStore,
  { olderThanMs, limit, now }: { olderThanMs: number; limit: number; now: () => number },
): Promise<OrderRecord[]> {
  const openedBefore = now() - olderThanMs;
  const open = await records.openOrders();
  const overdue = { acceptedBefore: records.acceptedBefore(), now: now() };
  // The clock of another process may be a little ahead.
  const isOld = (time = 0) => Math.min(time, overdue.now) <= openedBefore || isAhead(time, overdue.now);
  const unsettled = open.filter((order) => isUnsettled(order) && isOld(order.openedAt));
  const late = open
    .filter((order) => !isUnsettled(order) && isOverdue(order, overdue) && isOld(order.awaitingEventSince))
    .sort((order, other) => (order.awaitingEventSince ?? 0) - (other.awaitingEventSince ?? 0));
  const unfinished: OrderRecord[] = [];
  for await (const record of readChunks(records, [...unsettled, ...late].slice(0, limit))) {
    // It may have been settled meanwhile.
    if (isUnsettled(record) || isOverdue(record, overdue)) unfinished.push(record);
  }
  return unfinished;
}

/** Records read in one transaction, which delays every writer of one of their keys. */
const chunkSize = 100;

async function* readChunks(records: OrderStore, orders: readonly OpenOrder[]): AsyncGenerator<OrderRecord> {
  for (let start = 0; start < orders.length; start += chunkSize)
    yield* await records.readOpen(orders.slice(start, start + chunkSize));
}
