import { setImmediate as nextTurn } from 'node:timers/promises';
import { ValidationError } from '../../errors/validation-error.ts';
import type { OrderEventName } from '../../events/order-event.ts';

/** An event and how its posting went: a snapshot. */
export interface SandboxDelivery {
  readonly id: string;
  readonly name: OrderEventName;
  readonly platform_order_ref: string;
  readonly url: string;
  /** The text as posted, signature included; the same each time it is posted. */
  readonly body: string;
  /** How often it was posted. */
  readonly attempts: number;
  /** Whether the last answer was 2xx: the sandbox counts that as received (assumption `callback-reply`). */
  readonly acknowledged: boolean;
  /** HTTP status of the last answer; `undefined` if there was none. */
  readonly status: number | undefined;
  /** Why there was no answer, e.g. `ECONNREFUSED` or `TimeoutError`. */
  readonly error: string | undefined;
}

/** What {@link DeliveryQueue.post} posts. */
export interface QueuedEvent {
  readonly name: OrderEventName;
  readonly platform_order_ref: string;
  readonly url: string;
  readonly body: string;
  /** Sent as the bearer token (contract: Authentication 2). */
  readonly publicKey: string;
}

interface QueuedDelivery {
  delivery: SandboxDelivery;
  readonly publicKey: string;
}

/** Posts events to the partners and remembers each. */
export class DeliveryQueue {
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;
  readonly #deliveries = new Map<string, QueuedDelivery>();
  /** The last unanswered event of each order: the events of one order are posted one after another. */
  readonly #lastOfOrder = new Map<string, Promise<SandboxDelivery>>();
  readonly #underWay = new Set<Promise<SandboxDelivery>>();

  constructor(options: { fetch: typeof fetch; timeoutMs: number }) {
    this.#fetch = options.fetch;
    this.#timeoutMs = options.timeoutMs;
  }

  get deliveries(): readonly SandboxDelivery[] {
    return [...this.#deliveries.values()].map((queued) => queued.delivery);
  }

  /** Posts a new event after the earlier ones of its order were answered. Never rejects. */
  post(event: QueuedEvent): Promise<SandboxDelivery> {
    const { publicKey, ...facts } = event;
    const id = `delivery-${this.#deliveries.size + 1}`;
    const unsent = { id, ...facts, attempts: 0, acknowledged: false, status: undefined, error: undefined };
    const queued = { delivery: Object.freeze(unsent), publicKey };
    this.#deliveries.set(id, queued);
    const order = event.platform_order_ref;
    const before = this.#lastOfOrder.get(order);
    const result = this.#track(this.#sendAfter(before, queued));
    this.#lastOfOrder.set(order, result);
    void result.then(() => {
      if (this.#lastOfOrder.get(order) === result) this.#lastOfOrder.delete(order);
    });
    return result;
  }

  /** Posts an event's text again, at once. @throws {ValidationError} if no delivery has this id */
  redeliver(id: string): Promise<SandboxDelivery> {
    const queued = this.#deliveries.get(id);
    if (queued === undefined) {
      throw new ValidationError('redeliver', [{ path: ['id'], message: 'is not the id of a delivery' }]);
    }
    return this.#track(this.#send(queued));
  }

  /** Resolves when every event has been answered or given up. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #track(sending: Promise<SandboxDelivery>): Promise<SandboxDelivery> {
    this.#underWay.add(sending);
    void sending.then(() => this.#underWay.delete(sending));
    return sending;
  }

  async #sendAfter(before: Promise<unknown> | undefined, queued: QueuedDelivery): Promise<SandboxDelivery> {
    // The request that caused the event is answered first.
    await nextTurn();
    await before;
    return this.#send(queued);
  }

  async #send(queued: QueuedDelivery): Promise<SandboxDelivery> {
    queued.delivery = Object.freeze({ ...queued.delivery, attempts: queued.delivery.attempts + 1 });
    const outcome = await this.#exchange(queued);
    queued.delivery = Object.freeze({ ...queued.delivery, ...outcome });
    return queued.delivery;
  }

  async #exchange({
    delivery,
    publicKey,
  }: QueuedDelivery): Promise<Pick<SandboxDelivery, 'acknowledged' | 'status' | 'error'>> {
    const timeout = Promise.withResolvers<never>();
    const controller = new AbortController();
    const timer = setTimeout(() => {
      const reason = new DOMException('No answer in time.', 'TimeoutError');
      controller.abort(reason);
      // A fetch that ignores the signal must not delay the order's later events.
      timeout.reject(reason);
    }, this.#timeoutMs);
    try {
      const answer = this.#fetch(delivery.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${publicKey}` },
        body: delivery.body,
        redirect: 'manual',
        signal: controller.signal,
      });
      const response = await Promise.race([answer, timeout.promise]);
      // The partner's reply is not read, but its connection is released.
      response.body?.cancel().catch(() => {});
      return { acknowledged: response.ok, status: response.status, error: undefined };
    } catch (error) {
      return { acknowledged: false, status: undefined, error: describeFailure(error) };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The system's code if there is one (`ECONNREFUSED`), otherwise the name (`TimeoutError`). */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  if (typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string') {
    return cause.code;
  }
  return error.name;
}
