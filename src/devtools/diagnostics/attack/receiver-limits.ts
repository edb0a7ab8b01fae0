import type { PostAnswer } from '../post-request.ts';
import type { ProbeRequest, Probes } from './probes.ts';

/** How a receiver limits what it gets. */
export type Limits = ReturnType<typeof watchLimits>;

/** A limit that needs longer pauses than these stays. */
const longestPauseMs = 2000;
const mostTries = 5;
/** After so many deliveries that get 503 for ever, 503 is no limit. */
const mostPersistent = 3;

interface LimitOptions {
  readonly probes: Probes;
  readonly pause: (ms: number) => Promise<void>;
  /** All pauses together, in milliseconds. */
  readonly budgetMs: number;
}

/**
 * Sends again what a receiver did not want to take now, and slows down from then on. 429 is a limit. 503 is one if it
 * comes again at once and goes away with a pause: a receiver that fails at a delivery answers 503 to it however long the
 * pause is, or takes it at once.
 */
export function watchLimits({ probes, pause, budgetMs }: LimitOptions) {
  let [answered, persistent, pausedMs, gapMs] = [0, 0, 0, 0];
  let limitsBy503 = false;
  const wait = async (ms: number) => {
    pausedMs += ms;
    await pause(ms);
  };
  const note = (count: number) => {
    answered += count;
    // Half the requests of a second: most limits count by the second or the minute.
    gapMs = Math.min(200, Math.max(10, gapMs * 2));
  };
  return {
    async post(
      delivery: ProbeRequest,
      send: (delivery: ProbeRequest) => Promise<PostAnswer>,
    ): Promise<PostAnswer> {
      const { body, mayBeBusy } = delivery;
      if (mayBeBusy) return await send(delivery);
      const isAuthentic = body !== undefined && probes.verifies(body);
      if (gapMs > 0 && pausedMs < budgetMs) await wait(gapMs);
      let unavailable = 0;
      for (let tried = 1; ; tried++) {
        const answer = await send(delivery);
        const status = limitStatus(answer, isAuthentic);
        if (status === undefined) {
          // One 503 that is gone at once was no limit.
          if (unavailable > 1) {
            note(unavailable);
            limitsBy503 = true;
          }
          return answer;
        }
        if (status === 429) note(1);
        else unavailable++;
        const isHopeless = status === 503 && answered === 0 && persistent >= mostPersistent;
        if (tried === mostTries || pausedMs >= budgetMs || isHopeless) {
          if (status === 429 || answer.kind !== 'answered') return answer;
          // No time is left to see whether a pause would cure this one too.
          if (limitsBy503 && pausedMs >= budgetMs) return { ...answer, isLimited: true };
          persistent++;
          return answer;
        }
        if (status === 429 || unavailable > 1) await wait(pauseOf(answer, tried));
      }
    },
    /** `undefined` if nothing was limited. */
    summary: () => (answered === 0 ? undefined : { answered, pausedMs: Math.round(pausedMs) }),
  };
}

/** Forgeries that are answered 503 with Retry-After are refused: receivers that read their keys again answer so. */
function limitStatus(answer: PostAnswer, isAuthentic: boolean): 429 | 503 | undefined {
  if (answer.kind !== 'answered') return undefined;
  if (answer.status === 429) return 429;
  if (answer.status !== 503) return undefined;
  return isAuthentic || !answer.headers.has('retry-after') ? 503 : undefined;
}

function pauseOf(answer: PostAnswer, tried: number): number {
  const seconds = answer.kind === 'answered' ? Number(answer.headers.get('retry-after')) : 0;
  const wished = seconds > 0 ? seconds * 1000 : 100 * 2 ** tried;
  return Math.min(longestPauseMs, wished);
}
