import type { Deployment } from '../../../deployment/define-deployment.ts';
import { acceptingForm } from '../../../deployment/order-reply.ts';
import { type CapturedReply, denies, isSuccessStatus, readQuietly } from './captured-reply.ts';
import { type RowObservation, speaksAgainst, speaksFor } from './evidence.ts';

/** The replies to one order, and what its events show. */
export interface LoggedOrder {
  readonly replies: readonly OrderReplySeen[];
  /** An attempt had no reply, so that nobody knows which of them its events come from. */
  readonly isUncertain: boolean;
  readonly events: number;
  /** How many references of the service its events have. */
  readonly references: number;
  /** How long after the last reply the service sent an event of a later order: so long its absence was watched. */
  readonly watchedMs: number;
}

interface OrderReplySeen {
  readonly status: number;
  readonly shape: unknown;
  readonly startedAt: number;
  readonly endedAt: number;
  /** How often the address had been whitelisted before. */
  readonly whitelistings: number;
}

export interface OrderContext {
  readonly deployment: Pick<Deployment<unknown>, 'readOrderReply' | 'orderStatuses' | 'duplicateIds'>;
  /** The statuses of refusals of orders that were sent once: they are not about a repeated id. */
  readonly usualRefusals: ReadonlySet<number>;
}

interface Entry {
  readonly replies: OrderReplySeen[];
  readonly references: Set<string>;
  isUncertain: boolean;
  events: number;
  readonly since: string | undefined;
  /** When the order was sent first. */
  readonly sentAt: number;
  lastEventAt: number;
}

const maxOrders = 10_000;
const maxReplies = 8;
/** The absence of an event counts after this time alone. */
const absenceMs = 3_600_000;

/** Remembers the replies to the last orders, a bounded number of them, and their events. */
export function createOrderLog() {
  const entries = new Map<string, Entry>();
  return {
    noteReply(reply: CapturedReply, whitelistings: number): void {
      const { operation, order, status, at } = reply;
      if (operation !== 'createOrder' || order === undefined) return;
      const endedAt = Date.parse(at ?? '');
      const startedAt = endedAt - (reply.durationMs ?? 0);
      const entry = entries.get(order) ?? {
        replies: [],
        references: new Set(),
        isUncertain: false,
        events: 0,
        since: at,
        sentAt: startedAt,
        lastEventAt: Number.NEGATIVE_INFINITY,
      };
      entries.set(order, entry);
      const [oldest] = entries.keys();
      if (entries.size > maxOrders && oldest !== undefined) entries.delete(oldest);
      const isUnknown = status === undefined || reply.failure !== undefined || Number.isNaN(endedAt);
      if (isUnknown || entry.replies.length >= maxReplies) entry.isUncertain = true;
      else
        entry.replies.push({
          status,
          shape: reply.shape,
          startedAt,
          endedAt,
          whitelistings,
        });
    },
    noteEvent(order: string, { reference, at, isNew }: NotedEvent): void {
      const entry = entries.get(order);
      if (entry === undefined) return;
      entry.events++;
      if (isNew && at > entry.lastEventAt) entry.lastEventAt = at;
      if (reference !== undefined && entry.references.size < 3) entry.references.add(reference);
    },
    /** The remembered orders, with the digest of each. */
    *orders(): Generator<{ digest: string; since: string | undefined; order: LoggedOrder }> {
      const lastEventAfter = watchOf([...entries.values()]);
      for (const [digest, { replies, isUncertain, events, references, since }] of entries) {
        const repliedAt = Math.max(...replies.map(({ endedAt }) => endedAt));
        const watchedMs = lastEventAfter(repliedAt) - repliedAt;
        yield {
          digest,
          since,
          order: { replies, isUncertain, events, references: references.size, watchedMs },
        };
      }
    },
    usualRefusals(): ReadonlySet<number> {
      const first = [...entries.values()].flatMap(({ replies }) => (replies.length === 1 ? replies : []));
      return new Set(first.map(({ status }) => status).filter((status) => status >= 400));
    },
  };
}

interface NotedEvent {
  readonly reference: string | undefined;
  readonly at: number;
  /** Whether the service sent it now. Anybody can post one again that came before. */
  readonly isNew: boolean;
}

/**
 * When the last event came of the orders that were sent after a moment. Events of earlier orders do not show that the
 * service had begun with a later one.
 */
function watchOf(entries: readonly Entry[]): (after: number) => number {
  const latestFirst = entries
    .filter(({ sentAt }) => !Number.isNaN(sentAt))
    .sort((one, other) => other.sentAt - one.sentAt);
  let last = Number.NEGATIVE_INFINITY;
  const watch = latestFirst.map(({ sentAt, lastEventAt }) => {
    last = Math.max(last, lastEventAt);
    return { sentAt, last };
  });
  return (after) => {
    let [low, high] = [0, watch.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((watch[middle]?.sentAt ?? 0) > after) low = middle + 1;
      else high = middle;
    }
    return watch[low - 1]?.last ?? Number.NEGATIVE_INFINITY;
  };
}

/** The one reply to an order that was sent once, and whether the service has the order; `undefined` if nobody knows. */
function onlyReply({ replies, isUncertain, events, watchedMs }: LoggedOrder) {
  const [reply, ...others] = replies;
  if (reply === undefined || others.length > 0 || isUncertain) return undefined;
  if (events === 0 && watchedMs < absenceMs) return undefined;
  return { ...reply, isThere: events > 0 };
}

function verdictOf({ status, shape }: OrderReplySeen, { deployment }: OrderContext): unknown {
  return readQuietly(() => deployment.readOrderReply({ status, headers: new Headers(), body: shape }));
}

export function observeOrderReply(order: LoggedOrder, context: OrderContext): RowObservation | undefined {
  const reply = onlyReply(order);
  if (reply === undefined || !isSuccessStatus(reply.status)) return undefined;
  const { status, shape, isThere } = reply;
  const form = acceptingForm(shape);
  const found = `${status}, ${form === undefined ? `an object${denies(shape) ? ' that denies' : ''}` : form}`;
  const verdict = verdictOf(reply, context);
  // An event can be lost: that none came says nothing against an acceptance.
  if (verdict === 'accepted') return isThere ? speaksFor(found) : undefined;
  if (verdict === 'refused')
    return isThere ? { ...speaksAgainst(`${found}, yet events came`), isFact: true } : speaksFor(found);
  if (form === undefined)
    return isThere ? speaksFor(`${found}, yet events came`) : speaksAgainst(`${found}, and no event`);
  if (!isThere) return { speaks: 'open', found: `${found}, and no event` };
  return speaksAgainst(found, { readOrderReply: { accepted: [{ status, body: form }] } });
}

/** Whether a 2xx is a success. */
export function observeSuccess(order: LoggedOrder): RowObservation | undefined {
  const reply = onlyReply(order);
  if (reply === undefined || !isSuccessStatus(reply.status)) return undefined;
  if (reply.isThere) return speaksFor(String(reply.status));
  return denies(reply.shape)
    ? speaksAgainst(`${reply.status} with a body that denies, and no event`)
    : undefined;
}

/** What a status outside 2xx says of an order. */
export function observeStatus(isAsked: (status: number) => boolean) {
  return (order: LoggedOrder, { deployment }: OrderContext): RowObservation | undefined => {
    const reply = onlyReply(order);
    if (reply === undefined || !isAsked(reply.status)) return undefined;
    const { status, isThere } = reply;
    const meaning = deployment.orderStatuses[status] ?? 'refused';
    const found = `${status}, and ${isThere ? 'events came' : 'no event'}`;
    if (isThere === (meaning === 'unknown')) return speaksFor(found);
    const set = { orderStatuses: { [status]: isThere ? 'unknown' : 'refused' } } as const;
    return { ...speaksAgainst(found, set), ...(isThere && { isFact: true }) };
  };
}

/** How a second order with the same id is answered. */
export function observeRepeatedId(order: LoggedOrder, context: OrderContext): RowObservation | undefined {
  const habit = repeatedIdHabit(order);
  if (habit === undefined) return undefined;
  const { duplicateIds } = context.deployment;
  const configured = duplicateIds === 'refused' ? { refused: [409] } : duplicateIds;
  const { isAtOnce } = habit;
  switch (habit.answer) {
    case 'second': {
      if (configured === 'unknown') return speaksFor('a second order');
      return { ...speaksAgainst('a second order', { duplicateIds: 'unknown' }), isFact: true };
    }
    case 'same': {
      if (configured === 'same-order') return speaksFor('the same order');
      return speaksAgainst('the same order', isAtOnce ? { duplicateIds: 'same-order' } : undefined);
    }
    case 'denied':
      return speaksAgainst(`${habit.status} with a body that denies`);
    case 'refused': {
      const { status } = habit;
      const found = `refused with ${status}`;
      if (typeof configured === 'object' && configured.refused.includes(status)) return speaksFor(found);
      const isUsable = isAtOnce && !context.usualRefusals.has(status);
      return speaksAgainst(found, isUsable ? { duplicateIds: { refused: [status] } } : undefined);
    }
  }
}

interface RepeatedIdHabit {
  readonly answer: 'second' | 'same' | 'denied' | 'refused';
  /** The status of the second reply. */
  readonly status: number;
  /** Whether both requests were under way together: a service that looks first and writes afterwards shows itself then. */
  readonly isAtOnce: boolean;
}

function repeatedIdHabit(order: LoggedOrder): RepeatedIdHabit | undefined {
  const { references, events, watchedMs, isUncertain } = order;
  const [one, other] = order.replies;
  if (one === undefined || other === undefined || isUncertain) return undefined;
  const isAtOnce = other.startedAt < one.endedAt;
  // Of two requests at once the later one can be the first to be refused.
  const [first, second] = isAtOnce && !isSuccessStatus(one.status) ? [other, one] : [one, other];
  if (!isSuccessStatus(first.status)) return undefined;
  const { status } = second;
  const habit = { status, isAtOnce };
  if (references > 1) return isSuccessStatus(status) ? { ...habit, answer: 'second' } : undefined;
  // A second order may still show itself.
  if (events === 0 || watchedMs < absenceMs) return undefined;
  if (isSuccessStatus(status)) return { ...habit, answer: denies(second.shape) ? 'denied' : 'same' };
  const isAboutIt = status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status);
  return isAboutIt ? { ...habit, answer: 'refused' } : undefined;
}

/** How an order from an address is answered that is not whitelisted: it is taken after the address is. */
export function observeWhitelist({ replies }: LoggedOrder): RowObservation | undefined {
  const index = replies.findIndex(
    (reply, at) =>
      reply.status >= 400 &&
      isSuccessStatus(replies[at + 1]?.status ?? 0) &&
      (replies[at + 1]?.whitelistings ?? 0) > reply.whitelistings,
  );
  const status = replies[index]?.status;
  if (status === undefined) return undefined;
  return status === 401 || status === 403 ? speaksFor(String(status)) : speaksAgainst(String(status));
}
