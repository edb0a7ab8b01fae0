import type { RequestOutcome } from '../errors/request-error.ts';
import { outcomeOfStatus, worseOutcome } from './outcome.ts';
import type { ReadReply } from './reply.ts';

/** What is known of a call while its attempts go on. */
export class CallState {
  attempts = 0;
  /** The least certain outcome of the attempts that have ended. */
  outcome: RequestOutcome = 'not-sent';
  reply: ReadReply | undefined;
  #inFlight = false;

  begin(): number {
    this.#inFlight = true;
    this.reply = undefined;
    return ++this.attempts;
  }

  /** The head of the reply is there; its body may still fail to come. */
  arrive(attempt: number, head: ReadReply): void {
    if (attempt === this.attempts && this.#inFlight) this.reply = head;
  }

  /** Ignores an attempt that ky has given up on: its time-out is settled already. */
  settle(attempt: number, outcome: RequestOutcome, reply?: ReadReply): void {
    if (attempt !== this.attempts || !this.#inFlight) return;
    this.#inFlight = false;
    this.reply = reply;
    this.outcome = worseOutcome(this.outcome, outcome);
  }

  /** The attempt under way, if any, will not be waited for. What its head said counts. */
  abandon(): RequestOutcome {
    const outcome = this.reply === undefined ? 'unknown' : outcomeOfStatus(this.reply.status);
    this.settle(this.attempts, outcome, this.reply);
    return this.outcome;
  }
}
