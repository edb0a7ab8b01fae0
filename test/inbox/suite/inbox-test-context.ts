import { createHash } from 'node:crypto';
import type {
  AttemptResult,
  Delivery,
  HandleResult,
  InboxResult,
  ManagedInbox,
} from '../../../src/inbox/inbox.ts';
import { sleep } from '../../../src/internal/backoff.ts';

/** The options of an inbox that the suite sets. */
export interface InboxTestOptions {
  /** `receiver`: it only stores. */
  readonly role: 'both' | 'receiver';
  /** Attempts until a delivery becomes a dead letter. */
  readonly maxAttempts: number;
  /** Milliseconds that a handler may take. */
  readonly timeLimitMs: number;
  /** Deliveries handled at once. */
  readonly concurrency: number;
  /** Milliseconds from receiving a delivery until it may be dropped for want of a handler. */
  readonly ignoreAfterMs: number;
  /** Milliseconds between two attempts. */
  readonly retry: { readonly firstDelayMs: number; readonly maxDelayMs: number };
}

export interface InboxTestContext {
  /** Opens another inbox on the same data: as good as another process. */
  readonly open: (options?: Partial<InboxTestOptions>) => Promise<ManagedInbox>;
  /** Whether it acknowledges once it has stored; otherwise it handles before. */
  readonly durable: boolean;
  /** Waits until the assertion holds. */
  readonly eventually: (assertion: () => unknown) => Promise<void>;
}

/** Runs a case with an inbox that is stopped at its end. */
export type DefineInboxTest = (name: string, run: (context: InboxTestContext) => Promise<void>) => void;

export interface HandlerContext {
  readonly signal: AbortSignal | undefined;
  readonly delivery: Delivery;
}

export interface Report extends AttemptResult {
  readonly digest: string;
}

/**
 * A host on an inbox, what it was called with, and how its handler behaves for an order: it may return `ignored` or
 * `put-back`.
 */
export function host(
  inbox: ManagedInbox,
  behave: (id: string, context: HandlerContext) => unknown = () => {},
  { hasHandlers = () => true }: { readonly hasHandlers?: (() => boolean) | undefined } = {},
) {
  const calls: string[] = [];
  const reports: Report[] = [];
  async function handle(delivery: Delivery, signal?: AbortSignal): Promise<HandleResult> {
    const id = idOf(delivery);
    calls.push(id);
    const result = await behave(id, { signal, delivery });
    return result === 'ignored' || result === 'put-back' ? result : 'handled';
  }
  inbox.attach?.({
    get hasHandlers() {
      return hasHandlers();
    },
    handle: (delivery, options) => handle(delivery, options?.signal),
    report: ({ digest }, outcome) => void reports.push({ digest, ...outcome }),
  });
  const receive = (delivery: Delivery): Promise<InboxResult> =>
    inbox.receive(delivery, (options) => handle(delivery, options?.signal));
  return {
    calls,
    reports,
    receive,
    /** As the service might do it: again, until it is acknowledged or has been told no often enough. */
    async send(delivery: Delivery): Promise<InboxResult | 'refused'> {
      for (let tries = 1; tries <= 10; tries++) {
        const result = await receive(delivery).catch(() => 'refused' as const);
        if (result !== 'refused' && result !== 'busy') return result;
        // real time: another worker has it meanwhile.
        await sleep(5);
      }
      return 'refused';
    },
  };
}

/** A delivery of an order; another partner's is the same but for its digest. */
export function deliveryOf(id: string, { partner = 'one' } = {}): Delivery {
  const digest = createHash('sha256').update(`${partner}/${id}`).digest('hex');
  const body = JSON.stringify({ event_name: 'event.buy.init', partner_order_id: id, note: 'odd \ud83d 🙂' });
  const traceparent = `00-${digest.slice(0, 32)}-${digest.slice(32, 48)}-01`;
  return { digest, name: 'event.buy.init', key: { index: 0 }, body, traceparent };
}

export function idOf({ body }: Delivery): string {
  // Sound: deliveryOf wrote it.
  return (JSON.parse(body) as { partner_order_id: string }).partner_order_id;
}

/** A promise and the function that fulfils it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

export const never = (): Promise<never> => new Promise(() => {});

export function orderNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `order ${index}`);
}
