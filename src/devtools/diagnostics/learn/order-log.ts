import type { Deployment } from '../../../deployment/define-deployment.ts';
import { acceptingForm } from '../../../deployment/order-reply.ts';
import { type CapturedReply, denies, isSuccessStatus, readQuietly } from './captured-reply.ts';
import { type RowObservation, speaksAgainst, speaksFor } from './evidence.ts';

/** The replies to one order, and what its events show. */
export interface LoggedOrder {
  /** How often the order was sent. */
  readonly attempts: number;
  /** The reply, if the order was sent once; its shape in place of a body. */
  readonly reply: { readonly status: number; readonly shape: unknown } | undefined;
  /** Whether events came, so that the service has the order. Their absence shows nothing. */
  readonly hasEvents: boolean;
  /** How many references of the service its events have. */
  readonly references: number;
}

interface Entry {
  attempts: number;
  reply: LoggedOrder['reply'];
  hasEvents: boolean;
  readonly references: Set<string>;
  readonly since: string | undefined;
}

const maxOrders = 10_000;

/** Remembers the replies to the last orders, a bounded number of them, and their events. */
export function createOrderLog() {
  const entries = new Map<string, Entry>();
  return {
    noteReply({ operation, order, status, shape, failure, at }: CapturedReply): void {
      if (operation !== 'createOrder' || order === undefined) return;
      const entry = entries.get(order);
      const attempts = (entry?.attempts ?? 0) + 1;
      const isOnly = attempts === 1 && status !== undefined && failure === undefined;
      const reply = isOnly ? { status, shape } : undefined;
      const { references = new Set<string>(), since = at } = entry ?? {};
      entries.set(order, { attempts, reply, hasEvents: false, references, since });
      const [oldest] = entries.keys();
      if (entries.size > maxOrders && oldest !== undefined) entries.delete(oldest);
    },
    /** @param reference of the service, or a digest of it */
    noteEvent(order: string, reference: string | undefined): void {
      const entry = entries.get(order);
      if (entry === undefined) return;
      entry.hasEvents = true;
      if (reference !== undefined && entry.references.size < 2) entry.references.add(reference);
    },
    /** The remembered orders, with the digest of each. */
    *orders(): Generator<{ digest: string; since: string | undefined; order: LoggedOrder }> {
      for (const [digest, { since, references, ...entry }] of entries)
        yield { digest, since, order: { ...entry, references: references.size } };
    },
  };
}

type OrderRules = Pick<Deployment<unknown>, 'readOrderReply' | 'orderStatuses' | 'duplicateIds'>;

export function observeOrderReply(
  { reply, hasEvents }: LoggedOrder,
  { readOrderReply }: OrderRules,
): RowObservation | undefined {
  if (reply === undefined || !isSuccessStatus(reply.status)) return undefined;
  const { status, shape } = reply;
  const form = acceptingForm(shape);
  const found = `${status}, ${form === undefined ? `an object${denies(shape) ? ' that denies' : ''}` : form}`;
  const verdict = readQuietly(() => readOrderReply({ status, headers: new Headers(), body: shape }));
  if (hasEvents && verdict === 'accepted') return speaksFor(found);
  if (hasEvents && verdict === 'refused') return speaksAgainst(`${found}, yet events came`);
  if (verdict !== 'unknown') return undefined;
  // The same reply may also refuse: then nothing may be set.
  if (!hasEvents) return { speaks: 'open', found: `${found}, and no event` };
  if (form === undefined) return speaksFor(`${found}, yet events came`);
  return speaksAgainst(found, { readOrderReply: { accepted: [{ status, body: form }] } });
}

/** Whether a 2xx is a success. */
export function observeSuccess({ reply, hasEvents }: LoggedOrder): RowObservation | undefined {
  return hasEvents && reply !== undefined && isSuccessStatus(reply.status)
    ? speaksFor(String(reply.status))
    : undefined;
}

/** Whether the service has an order that it answered with a status outside 2xx. */
export function observeStatus(isAsked: (status: number) => boolean) {
  return ({ reply, hasEvents }: LoggedOrder, { orderStatuses }: OrderRules): RowObservation | undefined => {
    if (!hasEvents || reply === undefined || !isAsked(reply.status)) return undefined;
    const { status } = reply;
    const found = `${status}, and events came`;
    if (orderStatuses[status] === 'unknown') return speaksFor(found);
    return speaksAgainst(found, { orderStatuses: { [status]: 'unknown' } });
  };
}

/** Whether a second order with the same id is a second order: then its events have another reference. */
export function observeRepeatedId(
  { attempts, references }: LoggedOrder,
  { duplicateIds }: OrderRules,
): RowObservation | undefined {
  if (attempts < 2 || references < 2) return undefined;
  if (duplicateIds === 'unknown') return speaksFor('a second order');
  return speaksAgainst('a second order', { duplicateIds: 'unknown' });
}
