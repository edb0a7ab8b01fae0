import { randomUUID } from 'node:crypto';
import type { BuyOrder } from '../deployment/order-schema.ts';
import { OrderError } from '../errors/order-error.ts';
import { isStoreError } from '../errors/store-error.ts';
import { ValidationError } from '../errors/validation-error.ts';
import { warn } from '../errors/warn.ts';
import type { PreparedOrder } from '../exchange/prepared-order.ts';
import type { CallOptions } from '../http/call.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { checkInteger, checkOneOf, invalidOption } from '../options/check-values.ts';
import { quotedName } from '../redaction/quoted-name.ts';
import { storableText } from '../redaction/storable-text.ts';
import { checkStore } from '../store/check-store.ts';
import type {
  CreatedOrder,
  CreateOrderOptions,
  Observation,
  OrderJournal,
  PrepareOrderOptions,
  UnsettledOptions,
} from './journal.ts';
import { type OrderJournalOptions, resolveJournalOptions } from './journal-options.ts';
import { readObserved } from './observed-event.ts';
import { orderDigest } from './order-digest.ts';
import { type OrderRecord, orderAdvice, orderError, toJournaledOrder } from './order-record.ts';
import { orderRecords } from './order-records.ts';
import { type Sent, sendOrder } from './send-order.ts';
import {
  beginAttempt,
  finishAttempt,
  type Intent,
  observeEvent,
  prepareOrder,
  settleOrder,
} from './transitions.ts';

const createNames: OptionNames<CreateOrderOptions> = {
  merchant: true,
  again: true,
  signal: true,
  timeoutMs: true,
  schema: true,
};
const prepareNames: OptionNames<PrepareOrderOptions> = { merchant: true, store: true };
const unsettledNames: OptionNames<UnsettledOptions> = { olderThanMs: true, limit: true };

const longestNote = 1000;
const longestRef = 200;

/**
 * Keeps a journal of orders, so that none is sent twice and none is forgotten: see {@link OrderJournal}.
 *
 * @throws {ConfigurationError} `invalid_option`
 * @example
 * ```ts
 * const journal = createOrderJournal({ exchange, store: sqliteStore({ path: 'orders.sqlite' }) });
 * webhooks.onAny(journal.observe).onUnrecognized(journal.observe);
 *
 * const { order, reply } = await journal.create(buyOrder);
 * ```
 */
export function createOrderJournal<Order = BuyOrder>(
  options: OrderJournalOptions<Order>,
): OrderJournal<Order> {
  const resolved = resolveJournalOptions(options);
  const { exchange, leaseMs, duplicateIds, now } = resolved;
  const records = orderRecords(resolved);
  const show = (record: OrderRecord) => toJournaledOrder(record, now());

  async function check(
    order: Order,
    merchant: string | undefined,
  ): Promise<{ prepared: PreparedOrder; intent: Intent }> {
    const prepared = await exchange.prepareOrder(order, { merchant });
    const { payload, partnerId } = prepared;
    const { partner_order_id } = payload;
    if (typeof partner_order_id !== 'string' || partner_order_id === '') {
      const message = 'must be a text: the journal and the events know an order by it';
      throw new ValidationError('create', [{ path: ['partner_order_id'], message }]);
    }
    const digest = orderDigest(payload, merchant);
    return { prepared, intent: { partner_order_id, digest, merchant, partnerId } };
  }

  async function create<Body>(
    order: Order,
    createOptions: CreateOrderOptions<Body> = {},
  ): Promise<CreatedOrder<Body>> {
    checkNames('create', createOptions, createNames);
    const { merchant, again = false, ...call } = createOptions;
    if (typeof again !== 'boolean') throw invalidOption('again must be true or false.');
    const { prepared, intent } = await check(order, merchant);
    const attempt = randomUUID();
    const rules = { attempt, leaseMs, again, resendUnknown: duplicateIds !== 'unknown' };
    const begun = await orOnceMore(() =>
      records.update(intent.partner_order_id, (record) =>
        beginAttempt(record, intent, { ...rules, now: now() }),
      ),
    );
    // `beginAttempt` always makes a record.
    if (begun?.attempt !== attempt)
      return { replayed: true, reply: undefined, order: show(begun as OrderRecord) };
    const sent = await sendOrder(prepared, call as CallOptions<Body>, resolved);
    return concluded(await finish(begun, attempt, sent), sent);
  }

  /** Writes the result. If that fails, what it would have written: the caller still gets the truth. */
  async function finish(
    begun: OrderRecord,
    attempt: string,
    { result }: Sent<unknown>,
  ): Promise<OrderRecord> {
    try {
      const written = await orOnceMore(() =>
        records.update(begun.partner_order_id, (record) =>
          record === undefined ? undefined : finishAttempt(record, attempt, result, now()),
        ),
      );
      if (written !== undefined) {
        warnOfContradiction(begun, written);
        return written;
      }
    } catch (error) {
      reportStore(error);
    }
    return finishAttempt(begun, attempt, result, now());
  }

  function concluded<Body>(record: OrderRecord, sent: Sent<Body>): CreatedOrder<Body> {
    if ('reply' in sent) return { replayed: false, reply: sent.reply, order: show(record) };
    const isKnown = sent.result.outcome !== 'unknown';
    // A reply knows better than a person; signed evidence knows better than a reply.
    if (record.state === 'accepted' && !(record.evidence === 'person' && isKnown))
      return { replayed: false, reply: undefined, order: show(record) };
    // The service did not act on this request, but maybe on one before.
    if (isKnown && record.unresolved.length > 0)
      throw orderError('outcome_unknown', record, { now: now(), cause: sent.error });
    throw sent.error;
  }

  function reportStore(error: unknown): void {
    (async () => resolved.onStoreError(error))().catch(() => {});
  }

  return {
    // Sound: with a schema the type parameter is the schema's, without one `unknown`.
    create: create as OrderJournal<Order>['create'],

    async prepare(order, prepareOptions = {}) {
      checkNames('prepare', prepareOptions, prepareNames);
      const { merchant, store } = prepareOptions;
      const through = store === undefined ? undefined : checkStore(store);
      const { intent } = await check(order, merchant);
      const update = () =>
        records.update(intent.partner_order_id, (record) => prepareOrder(record, intent, now()), through);
      // In a transaction of the user's own, nothing can be tried again.
      const prepared = await (through === undefined ? orOnceMore(update) : update());
      // Sound: `prepareOrder` always makes a record.
      return show(prepared as OrderRecord);
    },

    async observe(event, context) {
      const { id, ref } = readObserved(event);
      if (id === undefined) return { result: 'unknown_order' };
      let before: OrderRecord | undefined;
      const after = await orOnceMore(() =>
        records.update(id, (record) => {
          before = isOfAnotherPartner(record, context?.key?.partnerId) ? undefined : record;
          return before && observeEvent(before, ref?.slice(0, longestRef), now());
        }),
      );
      if (after === undefined) return { result: 'unknown_order' };
      warnOfContradiction(before, after);
      return { result: observationResult(before, after), order: show(after) };
    },

    async get(partnerOrderId) {
      const record = await records.read(checkId(partnerOrderId));
      return record && show(record);
    },

    async unsettled(unsettledOptions = {}) {
      checkNames('unsettled', unsettledOptions, unsettledNames);
      const olderThanMs = checkInteger('olderThanMs', unsettledOptions.olderThanMs ?? 0, { least: 0 });
      const limit = checkInteger('limit', unsettledOptions.limit ?? 1000);
      const found = await records.unsettled({ openedBefore: now() - olderThanMs, limit });
      return found.map(show);
    },

    async settle(partnerOrderId, decision, note) {
      checkOneOf('The decision', decision, ['accepted', 'abandoned']);
      if (typeof note !== 'string' || note === '' || note.length > longestNote)
        throw invalidOption(`The note must be a text of 1 to ${longestNote} characters.`);
      const settlement = { decision, note: storableText(note) };
      const settled = await orOnceMore(() =>
        records.update(
          checkId(partnerOrderId),
          (record) => record && settleOrder(record, { ...settlement, now: now() }),
        ),
      );
      if (settled !== undefined) return show(settled);
      const message = `Order ${quotedName(partnerOrderId)} ${orderAdvice.order_not_found}`;
      throw new OrderError('order_not_found', message, { partner_order_id: partnerOrderId });
    },
  };
}

/**
 * A connection of a pool may have died unnoticed, and a conflict passes. Every change recognizes what it has written
 * itself, should the first try have been committed all the same.
 */
async function orOnceMore<Result>(transact: () => Promise<Result>): Promise<Result> {
  try {
    return await transact();
  } catch (error) {
    if (!isStoreError(error) || error.code === 'store_closed') throw error;
    return await transact();
  }
}

function observationResult(before: OrderRecord | undefined, after: OrderRecord): Observation['result'] {
  if (before === after) return 'known';
  return after.contradiction === before?.contradiction ? 'accepted' : 'contradiction';
}

/** One id may stand for an order of each partner. */
function isOfAnotherPartner(record: OrderRecord | undefined, partnerId: string | undefined): boolean {
  return record?.partnerId !== undefined && partnerId !== undefined && record.partnerId !== partnerId;
}

function warnOfContradiction(before: OrderRecord | undefined, after: OrderRecord): void {
  if (after.contradiction === undefined || after.contradiction === before?.contradiction) return;
  const id = quotedName(after.partner_order_id);
  warn(
    `The service has order ${id}, although it was ${after.contradiction} as far as the order journal knows: maybe another program uses its id, or what counts as refused was not (assumptions: errors).`,
  );
}

function checkId(partnerOrderId: string): string {
  if (typeof partnerOrderId === 'string' && partnerOrderId !== '') return partnerOrderId;
  throw invalidOption('The partner_order_id must be a text.');
}
