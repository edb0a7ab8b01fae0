import { isSamePartner } from '../credentials/partner-credentials.ts';
import { unrecognizedEvent } from '../events/parse-order-event.ts';
import { callHook, warnOnce } from '../internal/warn.ts';
import { type ComparedRecord, readSeenEvent } from './event-comparison.ts';
import type { JournalSettings } from './journal-options.ts';
import type { Observation, OrderJournal } from './journal-types.ts';
import { isUnrecognizedEvent, type ObservedEvent, orderNamedBy } from './named-order.ts';
import { orderMismatch } from './order-errors.ts';
import { type OrderRecord, toJournaledOrder } from './order-record.ts';
import type { OrderStore } from './order-store.ts';
import type { SettledReports } from './settled-reports.ts';
import { observeEvent } from './transitions.ts';

interface ObserveParts {
  readonly settings: JournalSettings;
  readonly records: OrderStore;
  readonly reports: SettledReports;
}

/** @throws {InboxError | OrderError | StoreError} as `observe` of a journal, once the evidence is written */
export async function observeOrder(
  event: ObservedEvent,
  context: Parameters<OrderJournal['observe']>[1],
  parts: ObserveParts,
): Promise<Observation> {
  const { rejection, ...observation } = await takeEvidence(event, context, parts);
  // The journal has its evidence. No handler has had the rest of the event: it must not be acknowledged.
  if (isUnrecognizedEvent(event)) throw unrecognizedEvent(event);
  if (rejection !== undefined) throw rejection;
  return observation;
}

/** @returns also `rejection`: why no handler may act on the event */
async function takeEvidence(
  event: ObservedEvent,
  context: Parameters<OrderJournal['observe']>[1],
  { settings, records, reports }: ObserveParts,
): Promise<Observation & { readonly rejection?: Error }> {
  const { rejectMismatch, onMismatch, now } = settings;
  const sameOrder = settings.exchange.deployment?.sameOrder;
  const id = orderNamedBy(event);
  if (id === undefined) return { result: 'unknown_order' };
  const signer = context?.key;
  const seen = readSeenEvent(event, context);
  let isForeign = false;
  let compared: ComparedRecord | undefined;
  const { before, after } = await records.update(id, (record) => {
    isForeign = record !== undefined && signer !== undefined && !isSamePartner(record, signer);
    if (record === undefined || isForeign) return record;
    compared = observeEvent(record, seen, { rejectMismatch, sameOrder, now: now() });
    return reports.mark(record, compared.record);
  });
  if (isForeign) {
    warnOnce(foreignEvent);
    return { result: 'other_partner' };
  }
  if (after === undefined || compared === undefined) return { result: 'unknown_order' };
  await reports.callAfter(before, after);
  const { event: logged, isMismatch, isRejected } = compared;
  const order = toJournaledOrder(after, now());
  if (isMismatch) callHook('onMismatch of createOrderJournal', () => onMismatch(order, logged));
  const { differences } = isMismatch ? logged : {};
  return {
    ...{ result: resultOf(before, after), order },
    ...(differences && { differences }),
    ...(isRejected && { rejection: orderMismatch(after, logged, now()) }),
  };
}

function resultOf(before: OrderRecord | undefined, after: OrderRecord): Observation['result'] {
  if (before?.state === 'accepted') return 'known';
  return after.contradiction === before?.contradiction ? 'accepted' : 'contradiction';
}

const foreignEvent =
  'An event of another partner than that of its order was no evidence to the order journal. If there is only one partner, give the same partnerId (or partnerCode) in the credentials of ExchangeClient and of createWebhooks.';
