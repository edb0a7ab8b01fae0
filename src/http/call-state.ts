import type { RequestError, RequestOutcome } from '../errors/request-error.ts';
import { outcomeOfStatus, worseOutcome } from './outcome.ts';
import type { ReadReply } from './reply.ts';

/** What is known of a call during its attempts. */
export class CallState {
  attempts: number;
  /** The least certain outcome of the attempts that have ended. */
  outcome: RequestOutcome;
  reply: ReadReply | undefined;
  #inFlight = false;

  /** @param before how the same call failed with other keys */
  constructor(before?: RequestError) {
    this.attempts = before?.attempts ?? 0;
    this.outcome = before?.outcome ?? 'not-sent';
  }

  begin(): number {
    this.#inFlight = true;
    this.reply = undefined;
    return ++this.attempts;
  }

  /** The head of the reply has arrived; its body may still be lost. */
  arrive(attempt: number, head: ReadReply): void {
    if (attempt === this.attempts && this.#inFlight) this.reply = head;
  }

  /** Ignores an attempt that ky has given up: it was settled as a time-out. */
  settle(attempt: number, outcome: RequestOutcome, reply?: ReadReply): void {
    if (attempt !== this.attempts || !this.#inFlight) return;
    this.#inFlight = false;
    this.reply = reply;
    this.outcome = worseOutcome(this.outcome, outcome);
  }

  /** Gives up the current attempt, if there is one. What its head said counts. */
  abandon(): RequestOutcome {
    const outcome = this.reply === undefined ? 'unknown' : outcomeOfStatus(this.reply.status);
    this.settle(this.attempts, outcome, this.reply);
    return this.outcome;
  }
}
