import { callRows, type ReplyBody, type ReplySchema } from '../client/call-options.ts';
import { type EventSigner, isSamePartner } from '../credentials/partner-credentials.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import type { OrderError } from '../errors/errors.ts';
import { unrecognizedEvent } from '../events/parse-order-event.ts';
import { storableText } from '../internal/driver-error.ts';
import {
  checkOneOf,
  defineOptions,
  flag,
  integer,
  invalidOption,
  type OptionTable,
  oneOf,
  optional,
  text,
} from '../internal/options.ts';
import { quotedName } from '../internal/printable-text.ts';
import { callHook, warn, warnOnce } from '../internal/warn.ts';
import { checkStore } from '../store/record-store.ts';
import { type ComparedRecord, readSeenEvent } from './event-comparison.ts';
import {
  type JournalSettings,
  type OrderJournalOptions,
  type OrderSender,
  readJournalOptions,
} from './journal-options.ts';
import type {
  CreatedOrder,
  CreateOrderOptions,
  ListOrdersOptions,
  Observation,
  ObservedEvent,
  OrderJournal,
  PrepareOrderOptions,
  SettleOptions,
  UnsettledOptions,
} from './journal-types.ts';
import type { JournaledOrder } from './journaled-order.ts';
import { isUnrecognizedEvent, orderNamedBy } from './named-order.ts';
import { countOpenOrders, ordersNeedingAttention, unsettledOrders } from './open-order-views.ts';
import { orderAttempts } from './order-attempts.ts';
import { isFilled } from './order-differences.ts';
import { startOrderLoop } from './order-loop.ts';
import {
  type OrderRecord,
  orderMismatch,
  orderNotFound,
  orderStates,
  toJournaledOrder,
} from './order-record.ts';
import { orderStore } from './order-store.ts';
import { reconcileOrders } from './reconcile.ts';
import {
  beginAttempt,
  hookCalled,
  observeEvent,
  prepareOrder,
  settleOrder,
  withReport,
} from './transitions.ts';

const longestNote = 1000;

/** It is kept as a note is. */
const acceptAddressRow = optional((given, name) => {
  if (isFilled(given) && given.length <= longestNote) return storableText(given);
  throw invalidOption(`${name} must be a text of 1 to ${longestNote} characters.`);
});

const intentRows = {
  merchant: optional(text()),
  acceptAddress: acceptAddressRow,
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
  state: optional(oneOf(orderStates)),
  since: integer({ default: 0, least: 0 }),
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
  const { leaseMs, resendUnknown, onSettled, rejectMismatch, onMismatch, now } = settings;
  const sameOrder = settings.exchange.deployment?.sameOrder;
  const records = orderStore(settings, warnOfContradiction);
  const { check, attempt, failureOf } = orderAttempts(settings, {
    records,
    onContradiction: warnOfContradiction,
  });
  const show = (record: OrderRecord) => toJournaledOrder(record, now());

  async function create<Schema extends ReplySchema = undefined>(
    order: Order,
    createOptions: CreateOrderOptions<Schema> = {},
  ): Promise<CreatedOrder<ReplyBody<Schema>>> {
    const { merchant, acceptAddress, again, replace, ...call } = readCreateOptions(createOptions);
    const checked = await check(order, { merchant, acceptAddress });
    const rules = { again, replace, resendUnknown };
    const made = await attempt<ReplyBody<Schema>>(checked, {
      begin: (record, lease) => beginAttempt(record, checked.intent, { ...rules, ...lease }),
      call,
      reports: false,
    });
    if (made.kind === 'known') return created(made.record);
    if (made.kind === 'denied') {
      const { record, error } = made;
      // The state of another order says nothing about this one.
      if (record === undefined || error.code === 'different_order') throw error;
      return created(record, { error });
    }
    const { record, sent } = made;
    // Sound: a client fails with errors.
    const error = failureOf(record, sent) as Error | undefined;
    return created(record, { error, ...('reply' in sent && { reply: sent.reply }) });
  }

  function created<Body>(
    record: OrderRecord,
    { reply, error }: Pick<CreatedOrder<Body>, 'reply' | 'error'> = {},
  ): CreatedOrder<Body> {
    const order = show(record);
    return {
      ...{ state: order.state, order },
      ...(reply !== undefined && { reply }),
      ...(error !== undefined && { error }),
    };
  }

  async function observe(
    event: ObservedEvent,
    context?: { readonly key?: EventSigner | undefined; readonly digest?: string | undefined },
  ): Promise<Observed> {
    const { id, ref, problem } = orderNamedBy(event);
    if (problem !== undefined) {
      warnOnce(`An order journal cannot tell which order an event is of: ${problem}.`);
      return { observation: { result: 'unknown_order', problem } };
    }
    if (id === undefined) return { observation: { result: 'unknown_order' } };
    const signer = context?.key;
    const seen = readSeenEvent(event, context);
    let before: OrderRecord | undefined;
    let isForeign = false;
    let compared: ComparedRecord | undefined;
    const after = await records.update(id, (record) => {
      before = record;
      isForeign = record !== undefined && signer !== undefined && !isSamePartner(record, signer);
      if (record === undefined || isForeign) return record;
      compared = observeEvent(record, { ref, seen, rejectMismatch, sameOrder, now: now() });
      return toReport(record, compared.record);
    });
    if (isForeign) {
      warnOnce(foreignEvent);
      return { observation: { result: 'other_partner' } };
    }
    if (after === undefined || compared === undefined) {
      await records.noteStray(id, seen);
      return { observation: { result: 'unknown_order' } };
    }
    warnOfContradiction(before, after);
    if (before?.state !== after.state) await reportOrWarn(after);
    const { event: logged, isMismatch, isRejected } = compared;
    const order = show(after);
    if (isMismatch) callHook('onMismatch of createOrderJournal', () => onMismatch(order, logged));
    const { differences } = isMismatch ? logged : {};
    return {
      observation: { result: observationResult(before, after), order, ...(differences && { differences }) },
      ...(isRejected && { rejection: orderMismatch(after, logged, now()) }),
    };
  }

  /** This process calls `onSettled` first if it has one, otherwise the loop of any that has. */
  function toReport(before: OrderRecord, after: OrderRecord): OrderRecord {
    if (onSettled !== undefined) return withReport(before, after, now() + leaseMs);
    return before.reports === true ? withReport(before, after, now()) : after;
  }

  /** @throws what `onSettled` throws, or a StoreError: then the loop calls it again */
  async function report(record: OrderRecord): Promise<void> {
    if (onSettled === undefined || record.unreported === undefined) return;
    await onSettled(show(record));
    await records.update(record.partner_order_id, (found) => found && hookCalled(found, record, 'report'));
  }

  async function reportOrWarn(record: OrderRecord): Promise<void> {
    await report(record).catch(() => warnOnce(failedReport));
  }

  return {
    // Sound: with a schema the type parameter is the schema's, without one `unknown`.
    create: create as OrderJournal<Order>['create'],

    start: (startOptions) =>
      startOrderLoop<Order>(startOptions, { check, attempt, failureOf, report, show, records, settings }),

    async prepare(order, prepareOptions = {}) {
      const { store, replace, ...given } = readPrepareOptions(prepareOptions);
      const { intent } = await check(order, given);
      const id = intent.partner_order_id;
      const change = (record: OrderRecord | undefined) =>
        prepareOrder(record, intent, { replace, now: now() });
      const prepared = await (store === undefined
        ? records.update(id, change)
        : records.updateThrough(store, id, change));
      return show(prepared);
    },

    async observe(event, context) {
      const { observation, rejection } = await observe(event, context);
      // The journal has its evidence. Nobody has handled the rest of the event: it must not be acknowledged.
      if (isUnrecognizedEvent(event)) throw unrecognizedEvent(event);
      if (rejection !== undefined) throw rejection;
      return observation;
    },

    async get(partnerOrderId) {
      const record = await records.read(checkId(partnerOrderId));
      return record && show(record);
    },

    async unsettled(unsettledOptions = {}) {
      const found = await unsettledOrders(records, { ...readUnsettledOptions(unsettledOptions), now });
      return found.map(show);
    },

    list(listOptions = {}) {
      const { state, since, attention } = readListOptions(listOptions);
      return listed();
      async function* listed(): AsyncGenerator<JournaledOrder, void, undefined> {
        for await (const record of attention ? ordersNeedingAttention(records) : records.all()) {
          const order = show(record);
          if ((state ?? order.state) === order.state && order.createdAt >= since) yield order;
        }
      }
    },

    reconcile: (reconcileOptions) => reconcileOrders(reconcileOptions, { records, now: now() }),

    health: () => countOpenOrders(records, now),

    async settle(partnerOrderId, decision, note, settleOptions = {}) {
      checkOneOf('The decision', decision, decisions);
      const { events } = readSettleOptions(settleOptions);
      if (
        (decision === 'rejected' && events === undefined) ||
        (decision === 'abandoned' && events !== undefined)
      )
        throw invalidOption('events belong to accepted and rejected, which is for events alone.');
      if (!isFilled(note) || note.length > longestNote)
        throw invalidOption(`The note must be a text of 1 to ${longestNote} characters.`);
      const acceptedBefore = records.acceptedBefore();
      const settlement = { decision, note: storableText(note), events, acceptedBefore };
      let before: OrderRecord | undefined;
      const settled = await records.update(checkId(partnerOrderId), (record) => {
        before = record;
        return record && toReport(record, settleOrder(record, { ...settlement, now: now() }));
      });
      if (settled === undefined) throw orderNotFound(partnerOrderId);
      if (before?.state !== settled.state) await reportOrWarn(settled);
      return show(settled);
    },
  };
}

interface Observed {
  readonly observation: Observation;
  /** Why no handler may act on the event. */
  readonly rejection?: OrderError;
}

const failedReport =
  'onSettled of createOrderJournal failed, so the column or queue that it writes may lack a state of an order: the loop of start calls it again.';

function observationResult(before: OrderRecord | undefined, after: OrderRecord): Observation['result'] {
  if (before?.state === 'accepted') return 'known';
  return after.contradiction === before?.contradiction ? 'accepted' : 'contradiction';
}

const foreignEvent =
  'An event of another partner than that of its order was no evidence to the order journal. If there is only one partner, give the same partnerId (or partnerCode) in the credentials of ExchangeClient and of createWebhooks.';

function warnOfContradiction(before: OrderRecord | undefined, after: OrderRecord): void {
  if (after.contradiction === undefined || after.contradiction === before?.contradiction) return;
  const id = quotedName(after.partner_order_id);
  warn(
    `The service has order ${id}, although it was ${after.contradiction} as far as the order journal knows: maybe another program uses its id, or what counts as refused was not (assumptions: errors).`,
  );
}

function checkId(partnerOrderId: string): string {
  if (isFilled(partnerOrderId)) return partnerOrderId;
  throw invalidOption('The partner_order_id must be a text.');
}
