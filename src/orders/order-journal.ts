import { randomUUID } from 'node:crypto';
import { type EventSigner, isSamePartner } from '../credentials/same-partner.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import { isOrderError, OrderError, ValidationError } from '../errors/errors.ts';
import { unrecognizedEvent } from '../events/unrecognized-event.ts';
import type { PreparedOrder } from '../exchange/prepared-order.ts';
import type { CallOptions, ReplyBody, ReplySchema } from '../http/call.ts';
import { storableText } from '../internal/describe-error.ts';
import {
  checkOneOf,
  defineOptions,
  flag,
  integer,
  invalidOption,
  type OptionTable,
  optional,
  unchecked,
} from '../internal/options.ts';
import { quotedName } from '../internal/printable-text.ts';
import { callHook, warn, warnOnce } from '../internal/warn.ts';
import { checkStore } from '../store/record-store.ts';
import type {
  CreatedOrder,
  CreateOrderOptions,
  Observation,
  ObservedEvent,
  OrderJournal,
  PrepareOrderOptions,
  UnsettledOptions,
} from './journal.ts';
import {
  type JournalSettings,
  type OrderJournalOptions,
  type OrderSender,
  readJournalOptions,
} from './journal-options.ts';
import { isName, isUnrecognizedEvent, orderNamedBy } from './observed-event.ts';
import { type OrderRecord, orderDigest, orderError, stateAt, toJournaledOrder } from './order-record.ts';
import { orderRecords } from './order-records.ts';
import { type Sent, sendOrder } from './send-order.ts';
import {
  type AttemptRules,
  beginAttempt,
  finishAttempt,
  type Intent,
  type OrderAttemptResult,
  observeEvent,
  prepareOrder,
  settleOrder,
} from './transitions.ts';

const readCreateOptions = defineOptions('create', {
  merchant: unchecked(),
  again: flag({ default: false }),
  signal: unchecked(),
  timeoutMs: unchecked(),
  leftMs: unchecked(),
  schema: unchecked(),
} satisfies OptionTable<CreateOrderOptions>);

const readPrepareOptions = defineOptions('prepare', {
  merchant: unchecked(),
  store: optional(checkStore),
} satisfies OptionTable<PrepareOrderOptions>);

const readUnsettledOptions = defineOptions('unsettled', {
  olderThanMs: integer({ default: 0, least: 0 }),
  limit: integer({ default: 1000 }),
} satisfies OptionTable<UnsettledOptions>);

const longestNote = 1000;

/**
 * Keeps a journal of orders, so that none is sent twice and none is forgotten: see {@link OrderJournal}.
 *
 * @throws {ConfigurationError} `invalid_option`
 * @example
 * ```ts
 * const journal = createOrderJournal({ exchange, store: sqliteStore({ path: 'orders.sqlite' }) });
 * // It runs before the handler of each name. Of an event that cannot be read it takes the evidence, and throws: the
 * // event becomes a dead letter, or is answered 500.
 * webhooks.onAny(journal.observe).onUnrecognized(journal.observe);
 *
 * const { order, reply } = await journal.create(buyOrder);
 * ```
 */
export function createOrderJournal<Order = BuyOrder>(
  options: OrderJournalOptions<Order>,
): OrderJournal<Order> {
  // Sound: the table returns the sender that it was given.
  const settings = readJournalOptions(options) as JournalSettings & { exchange: OrderSender<Order> };
  const { exchange, leaseMs, duplicateIds, now } = settings;
  const records = orderRecords(settings, warnOfContradiction);
  const show = (record: OrderRecord) => toJournaledOrder(record, now());

  async function check(
    order: Order,
    merchant: string | undefined,
  ): Promise<{ prepared: PreparedOrder; intent: Intent }> {
    const prepared = await exchange.prepareOrder(order, { merchant });
    const { payload, partnerId, partnerCode, rotation } = prepared;
    const { partner_order_id } = payload;
    if (!isName(partner_order_id)) {
      const message = 'must be a text: the journal and the events know an order by it';
      throw new ValidationError('create', [{ path: ['partner_order_id'], message }]);
    }
    const digest = orderDigest(payload, merchant);
    return { prepared, intent: { partner_order_id, digest, merchant, partnerId, partnerCode, rotation } };
  }

  async function create<Schema extends ReplySchema = undefined>(
    order: Order,
    createOptions: CreateOrderOptions<Schema> = {},
  ): Promise<CreatedOrder<ReplyBody<Schema>>> {
    const { merchant, again, ...call } = readCreateOptions(createOptions);
    const { prepared, intent } = await check(order, merchant);
    const attempt = randomUUID();
    const begun = await begin(intent, {
      attempt,
      leaseMs,
      again,
      resendUnknown: duplicateIds !== 'unknown',
    });
    if (begun.attempt !== attempt) return { replayed: true, reply: undefined, order: show(begun) };
    // After its lease the order may have been given up, so it must not leave.
    const lease = () => (stateAt(begun, now()) === 'sending' ? (begun.leaseUntil ?? 0) - now() : 0);
    const { leftMs = () => Number.POSITIVE_INFINITY } = call;
    const limits = { leftMs: () => Math.min(lease(), leftMs()) };
    // Meanwhile, since only an accepted order needs it.
    const observation = records.readObservation();
    const sent = await sendOrder(prepared, { ...call, ...limits } as CallOptions<Schema>, settings);
    await observation;
    return createdOrder(await finish(begun, attempt, sent), sent);
  }

  async function begin(intent: Intent, rules: Omit<AttemptRules, 'now'>): Promise<OrderRecord> {
    try {
      return await records.update(intent.partner_order_id, (record) =>
        beginAttempt(record, intent, { ...rules, now: now() }),
      );
    } catch (error) {
      // The store may hold the intent. Only this process knows that nothing was sent.
      if (!isOrderError(error)) {
        records.writeLater(intent.partner_order_id, { attempt: rules.attempt, result: neverSent });
      }
      throw error;
    }
  }

  /** Returns the record with the result even if writing fails. */
  async function finish(
    begun: OrderRecord,
    attempt: string,
    { result }: Sent<unknown>,
  ): Promise<OrderRecord> {
    try {
      const written = await records.update(
        begun.partner_order_id,
        (record) => record && finishAttempt(record, attempt, result, now()),
      );
      if (written !== undefined) {
        warnOfContradiction(begun, written);
        return written;
      }
    } catch (error) {
      records.writeLater(begun.partner_order_id, { attempt, result });
      callHook('onStoreError of createOrderJournal', () => settings.onStoreError(error));
    }
    return finishAttempt(begun, attempt, result, now());
  }

  function createdOrder<Body>(record: OrderRecord, sent: Sent<Body>): CreatedOrder<Body> {
    if ('reply' in sent) return { replayed: false, reply: sent.reply, order: show(record) };
    const isKnown = sent.result.outcome !== 'unknown';
    // A reply outweighs a person's decision; signed evidence outweighs a reply.
    if (record.state === 'accepted' && !(record.evidence === 'person' && isKnown))
      return { replayed: false, reply: undefined, order: show(record) };
    // The service did not act on this request, but may have acted on an earlier one.
    if (isKnown && record.unresolved.length > 0)
      throw orderError('outcome_unknown', record, { now: now(), cause: sent.error });
    throw sent.error;
  }

  async function observe(
    event: ObservedEvent,
    context?: { readonly key?: EventSigner | undefined },
  ): Promise<Observation> {
    const { id, ref, problem } = orderNamedBy(event);
    if (problem !== undefined) {
      warnOnce(`An order journal cannot tell which order an event is of: ${problem}.`);
      return { result: 'unknown_order', problem };
    }
    if (id === undefined) return { result: 'unknown_order' };
    const signer = context?.key;
    let before: OrderRecord | undefined;
    let isForeign = false;
    const after = await records.update(id, (record) => {
      before = record;
      isForeign = record !== undefined && signer !== undefined && !isSamePartner(record, signer);
      return record === undefined || isForeign ? record : observeEvent(record, ref, now());
    });
    if (isForeign) {
      warnOnce(foreignEvent);
      return { result: 'other_partner' };
    }
    if (after === undefined) return { result: 'unknown_order' };
    await records.noteObservation();
    warnOfContradiction(before, after);
    return { result: observationResult(before, after), order: show(after) };
  }

  return {
    // Sound: with a schema the type parameter is the schema's, without one `unknown`.
    create: create as OrderJournal<Order>['create'],

    async prepare(order, prepareOptions = {}) {
      const { merchant, store } = readPrepareOptions(prepareOptions);
      const { intent } = await check(order, merchant);
      const id = intent.partner_order_id;
      const change = (record: OrderRecord | undefined) => prepareOrder(record, intent, now());
      const prepared = await (store === undefined
        ? records.update(id, change)
        : records.updateThrough(store, id, change));
      return show(prepared);
    },

    async observe(event, context) {
      const observation = await observe(event, context);
      // The journal has its evidence. Nobody has handled the rest of the event: it must not be acknowledged.
      if (isUnrecognizedEvent(event)) throw unrecognizedEvent(event);
      return observation;
    },

    async get(partnerOrderId) {
      const record = await records.read(checkId(partnerOrderId));
      return record && show(record);
    },

    async unsettled(unsettledOptions = {}) {
      const { olderThanMs, limit } = readUnsettledOptions(unsettledOptions);
      const found = await records.unsettled({ openedBefore: now() - olderThanMs, limit });
      return found.map(show);
    },

    async settle(partnerOrderId, decision, note) {
      checkOneOf('The decision', decision, ['accepted', 'abandoned']);
      if (!isName(note) || note.length > longestNote)
        throw invalidOption(`The note must be a text of 1 to ${longestNote} characters.`);
      const acceptedBefore = await records.acceptedBefore();
      const settlement = { decision, note: storableText(note), acceptedBefore };
      const settled = await records.update(
        checkId(partnerOrderId),
        (record) => record && settleOrder(record, { ...settlement, now: now() }),
      );
      if (settled !== undefined) return show(settled);
      const message = `Order ${quotedName(partnerOrderId)} is not in the journal.`;
      throw new OrderError('order_not_found', message, { partner_order_id: partnerOrderId });
    },
  };
}

function observationResult(before: OrderRecord | undefined, after: OrderRecord): Observation['result'] {
  if (before?.state === 'accepted') return 'known';
  return after.contradiction === before?.contradiction ? 'accepted' : 'contradiction';
}

const neverSent: OrderAttemptResult = {
  outcome: 'not-sent',
  failure: 'store_failed',
  status: undefined,
  isDuplicate: false,
};

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
  if (isName(partnerOrderId)) return partnerOrderId;
  throw invalidOption('The partner_order_id must be a text.');
}
