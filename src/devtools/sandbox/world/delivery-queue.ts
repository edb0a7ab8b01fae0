import { setImmediate as nextTurn } from 'node:timers/promises';
import { ValidationError } from '../../../errors/errors.ts';
import { type PostAnswer, postRequest } from '../../diagnostics/post-request.ts';
import type { SandboxSettings } from '../settings/sandbox-options.ts';
import type { InternalClock } from './clock.ts';
import { type DeliverySchedule, eventHeaders, type QueuedEvent, type SandboxDelivery } from './delivery.ts';
import type { TraceLog } from './trace.ts';

interface QueuedDelivery {
  readonly event: QueuedEvent;
  delivery: SandboxDelivery;
  /** Whether an answer counted as received. Then the event is not repeated. */
  isReceived: boolean;
  readonly generation: number;
}

interface QueueOptions
  extends Pick<SandboxSettings, 'callbackRetry' | 'callbackTimeoutMs' | 'fetch' | 'maxRemembered'> {
  readonly clock: InternalClock;
  readonly trace: TraceLog;
}

/** An event that waits for the next one of its order, at most until its timer. */
interface HeldDelivery {
  readonly queued: QueuedDelivery;
  readonly timer: { cancel(): void };
}

/** Milliseconds of the sandbox's clock for which an event is held back: there may be no next one. */
const maxHeldMs = 60_000;

/** Posts events to the partners and keeps the last ones. */
export class DeliveryQueue {
  readonly #options: QueueOptions;
  readonly #deliveries = new Map<string, QueuedDelivery>();
  /** The last unanswered event of each order, since the events of one order are posted one after another. */
  readonly #lastOfOrder = new Map<string, Promise<SandboxDelivery>>();
  readonly #held = new Map<string, HeldDelivery[]>();
  readonly #underWay = new Set<Promise<unknown>>();
  #numbers = 0;
  /** Counts the calls of `clear`: an event of an earlier generation is not posted. */
  #generation = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get deliveries(): readonly SandboxDelivery[] {
    return [...this.#deliveries.values()].map((queued) => queued.delivery);
  }

  /**
   * Posts a new event after the earlier ones of its order were answered. Resolves when it was answered, or at once
   * if it is held back. Never rejects.
   */
  post(event: QueuedEvent, schedule: DeliverySchedule = {}): Promise<SandboxDelivery> {
    const queued = this.#remember(event);
    const order = event.platform_order_ref;
    if (schedule.isDropped) return Promise.resolve(queued.delivery);
    if (schedule.delayMs !== undefined) {
      this.#options.clock.schedule(schedule.delayMs, async () => {
        await this.#track(this.#sendAfter(undefined, queued, schedule));
      });
      return Promise.resolve(queued.delivery);
    }
    if (schedule.isHeld) {
      const timer = this.#options.clock.schedule(maxHeldMs, () => this.#postHeld(order));
      this.#held.set(order, [...(this.#held.get(order) ?? []), { queued, timer }]);
      return Promise.resolve(queued.delivery);
    }
    return this.#enqueue(order, queued, schedule);
  }

  /** Posts an event's text again, at once. @throws {ValidationError} if no delivery has this id */
  redeliver(id: string): Promise<SandboxDelivery> {
    return this.#track(this.#send(this.#find(id), { isRepeated: false }));
  }

  /** @throws {ValidationError} if no delivery has this id */
  eventOf(id: string): QueuedEvent {
    return this.#find(id).event;
  }

  /** Resolves when every event was answered or given up, except those that wait for the clock. */
  async idle(): Promise<void> {
    for (;;) {
      if (this.#underWay.size === 0) for (const order of this.#held.keys()) void this.#postHeld(order);
      if (this.#underWay.size === 0) return;
      await Promise.all(this.#underWay);
    }
  }

  /** Forgets every event. Pending ones are not posted, and an answer that is still to come is ignored. */
  clear(): void {
    this.#generation += 1;
    this.#deliveries.clear();
    for (const order of this.#held.keys()) this.#takeHeld(order);
    this.#numbers = 0;
  }

  #find(id: string): QueuedDelivery {
    const queued = this.#deliveries.get(id);
    if (queued !== undefined) return queued;
    throw new ValidationError('The delivery', [
      { path: ['id'], message: 'is not the id of a delivery that is remembered' },
    ]);
  }

  #remember(event: QueuedEvent): QueuedDelivery {
    this.#numbers += 1;
    const id = `delivery-${this.#numbers}`;
    const { publicKey: _, ...facts } = event;
    const delivery: SandboxDelivery = Object.freeze({
      id,
      ...facts,
      attempts: 0,
      postedAt: undefined,
      acknowledged: false,
      status: undefined,
      error: undefined,
    });
    const queued = { event, delivery, isReceived: false, generation: this.#generation };
    this.#deliveries.set(id, queued);
    // A pending event is held by its own closure: forgetting it here loses nothing.
    for (const oldest of this.#deliveries.keys()) {
      if (this.#deliveries.size <= this.#options.maxRemembered) break;
      this.#deliveries.delete(oldest);
    }
    return queued;
  }

  #enqueue(order: string, queued: QueuedDelivery, schedule: DeliverySchedule): Promise<SandboxDelivery> {
    const previous = this.#lastOfOrder.get(order);
    const held = this.#takeHeld(order);
    const result = this.#track(this.#sendAfter(previous, queued, schedule));
    this.#lastOfOrder.set(order, result);
    void result.then(() => {
      if (this.#lastOfOrder.get(order) === result) this.#lastOfOrder.delete(order);
    });
    for (const late of held) void this.#enqueue(order, late, {});
    return result;
  }

  async #postHeld(order: string): Promise<void> {
    await Promise.all(this.#takeHeld(order).map((queued) => this.#enqueue(order, queued, {})));
  }

  #takeHeld(order: string): QueuedDelivery[] {
    const held = this.#held.get(order) ?? [];
    this.#held.delete(order);
    for (const { timer } of held) timer.cancel();
    return held.map(({ queued }) => queued);
  }

  #track<Result>(sending: Promise<Result>): Promise<Result> {
    this.#underWay.add(sending);
    void sending.then(() => this.#underWay.delete(sending));
    return sending;
  }

  async #sendAfter(
    previous: Promise<unknown> | undefined,
    queued: QueuedDelivery,
    { copies }: DeliverySchedule,
  ): Promise<SandboxDelivery> {
    // Wait one turn, so that the request is answered before its event is posted.
    await nextTurn();
    await previous;
    const first = this.#send(queued, { isRepeated: true });
    if (copies === 'duplicate') await first;
    if (copies !== undefined) await this.#send(queued, { isRepeated: false });
    await first;
    return queued.delivery;
  }

  async #send(queued: QueuedDelivery, { isRepeated }: { isRepeated: boolean }): Promise<SandboxDelivery> {
    const { callbackTimeoutMs: timeoutMs, clock, fetch, trace } = this.#options;
    if (queued.generation !== this.#generation) return queued.delivery;
    const attempts = queued.delivery.attempts + 1;
    const started = clock.now();
    queued.delivery = Object.freeze({ ...queued.delivery, attempts, postedAt: started });
    const { url, body, name, partner_order_id, faults, publicKey } = queued.event;
    const headers = eventHeaders(publicKey);
    const traceFacts = {
      event: name,
      delivery: queued.delivery.id,
      order: partner_order_id,
      method: 'POST',
      url,
      faults,
    };
    const exchange = trace.add({ kind: 'event', ...traceFacts, headers, body });
    const answer = await postRequest({ url, headers, body }, { fetch, timeoutMs, maxAnswerBytes });
    if (queued.generation !== this.#generation) return queued.delivery;
    // An event with a status was answered, even if the rest of the answer is lost.
    const replied = answer.kind === 'closed' ? undefined : answer;
    const status = replied?.status;
    const error = failureOf(answer);
    const acknowledged = status !== undefined && status >= 200 && status < 300;
    queued.isReceived ||= acknowledged;
    trace.add({
      kind: 'event_reply',
      ...traceFacts,
      exchange,
      status,
      note: error,
      body: answer.kind === 'answered' ? answer.text : undefined,
      headers: replied?.headers && Object.fromEntries(replied.headers),
      durationMs: clock.now() - started,
    });
    queued.delivery = Object.freeze({ ...queued.delivery, acknowledged, status, error });
    const { maxAttempts, firstDelayMs, maxDelayMs } = this.#options.callbackRetry ?? unrepeated;
    if (isRepeated && !queued.isReceived && attempts < maxAttempts) {
      const delayMs = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(attempts - 1, 50));
      clock.schedule(delayMs, async () => {
        await this.#track(this.#send(queued, { isRepeated: true }));
      });
    }
    return queued.delivery;
  }
}

const unrepeated = { maxAttempts: 1, firstDelayMs: 0, maxDelayMs: 0 };

const maxAnswerBytes = 64 * 1024;

/** The system's code (`ECONNREFUSED`) if there is one, otherwise the name of the error (`TimeoutError`). */
function failureOf(answer: PostAnswer): string | undefined {
  if (answer.kind === 'closed') return answer.reason;
  return answer.kind === 'late' && answer.status === undefined ? 'TimeoutError' : undefined;
}
