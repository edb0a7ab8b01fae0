import { setImmediate as nextTurn } from 'node:timers/promises';
import { ValidationError } from '../../errors/validation-error.ts';
import type { OrderEventName } from '../../events/order-event.ts';

/** An event and how posting it went: a snapshot. */
export interface SandboxDelivery {
  readonly id: string;
  readonly name: OrderEventName;
  readonly platform_order_ref: string;
  readonly url: string;
  /** The text as posted, signature included; the same each time it is posted. */
  readonly body: string;
  /** How often it was posted. */
  readonly attempts: number;
  /** Whether the last answer was 2xx: the sandbox takes that for received (assumption `callback-reply`). */
  readonly acknowledged: boolean;
  /** HTTP status of the last answer; `undefined` when there was none. */
  readonly status: number | undefined;
  /** Why there was no answer, e.g. `ECONNREFUSED` or `TimeoutError`. */
  readonly error: string | undefined;
}

/** What {@link EventPostman.post} posts. */
export interface Letter {
  readonly name: OrderEventName;
  readonly platform_order_ref: string;
  readonly url: string;
  readonly body: string;
  /** Goes along as the bearer token (contract: Authentication 2). */
  readonly publicKey: string;
}

interface Posting {
  delivery: SandboxDelivery;
  readonly publicKey: string;
}

/** Posts events to the partners and remembers each. */
export class EventPostman {
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;
  readonly #postings = new Map<string, Posting>();
  /** The last event of each order that is still under way: the events of one order go one after another. */
  readonly #queues = new Map<string, Promise<SandboxDelivery>>();
  readonly #underWay = new Set<Promise<SandboxDelivery>>();

  constructor(options: { fetch: typeof fetch; timeoutMs: number }) {
    this.#fetch = options.fetch;
    this.#timeoutMs = options.timeoutMs;
  }

  get deliveries(): readonly SandboxDelivery[] {
    return [...this.#postings.values()].map((posting) => posting.delivery);
  }

  /** Posts a new event once the earlier ones of its order are answered. Never rejects. */
  post(letter: Letter): Promise<SandboxDelivery> {
    const { publicKey, ...facts } = letter;
    const id = `delivery-${this.#postings.size + 1}`;
    const unsent = { id, ...facts, attempts: 0, acknowledged: false, status: undefined, error: undefined };
    const posting = { delivery: Object.freeze(unsent), publicKey };
    this.#postings.set(id, posting);
    const order = letter.platform_order_ref;
    const before = this.#queues.get(order);
    const result = this.#track(this.#sendAfter(before, posting));
    this.#queues.set(order, result);
    void result.then(() => {
      if (this.#queues.get(order) === result) this.#queues.delete(order);
    });
    return result;
  }

  /** Posts an event's text once more, at once. @throws {ValidationError} when there is no such delivery */
  redeliver(id: string): Promise<SandboxDelivery> {
    const posting = this.#postings.get(id);
    if (posting === undefined) {
      throw new ValidationError('redeliver', [{ path: ['id'], message: 'is not the id of a delivery' }]);
    }
    return this.#track(this.#send(posting));
  }

  /** Resolves when no event is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #track(sending: Promise<SandboxDelivery>): Promise<SandboxDelivery> {
    this.#underWay.add(sending);
    void sending.then(() => this.#underWay.delete(sending));
    return sending;
  }

  async #sendAfter(before: Promise<unknown> | undefined, posting: Posting): Promise<SandboxDelivery> {
    // The request that caused the event is answered first.
    await nextTurn();
    await before;
    return this.#send(posting);
  }

  async #send(posting: Posting): Promise<SandboxDelivery> {
    posting.delivery = Object.freeze({ ...posting.delivery, attempts: posting.delivery.attempts + 1 });
    const outcome = await this.#exchange(posting);
    posting.delivery = Object.freeze({ ...posting.delivery, ...outcome });
    return posting.delivery;
  }

  async #exchange({
    delivery,
    publicKey,
  }: Posting): Promise<Pick<SandboxDelivery, 'acknowledged' | 'status' | 'error'>> {
    const timeout = Promise.withResolvers<never>();
    const controller = new AbortController();
    const timer = setTimeout(() => {
      const reason = new DOMException('No answer in time.', 'TimeoutError');
      controller.abort(reason);
      // A fetch that does not heed the signal must not hold the order's later events.
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
      // What the partner says is not read, but the connection is given back.
      response.body?.cancel().catch(() => {});
      return { acknowledged: response.ok, status: response.status, error: undefined };
    } catch (error) {
      return { acknowledged: false, status: undefined, error: describeFailure(error) };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The system's code where there is one (`ECONNREFUSED`), otherwise the name (`TimeoutError`). */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  if (typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string') {
    return cause.code;
  }
  return error.name;
}
