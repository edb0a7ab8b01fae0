import type { PostAnswer } from '../post-request.ts';
import type { ProbeRequest, Probes } from './probes.ts';

/** How a receiver limits what it gets. */
export type Limits = ReturnType<typeof watchLimits>;

/** A limit that needs longer pauses than these stays. */
const longestPauseMs = 2000;
const mostTries = 5;

interface LimitOptions {
  readonly probes: Probes;
  readonly pause: (ms: number) => Promise<void>;
  /** All pauses together, in milliseconds. */
  readonly budgetMs: number;
}

/** Sends again what a receiver did not want to take now, and slows down from then on. */
export function watchLimits({ probes, pause, budgetMs }: LimitOptions) {
  let [answered, pausedMs, gapMs] = [0, 0, 0];
  const wait = async (ms: number) => {
    pausedMs += ms;
    await pause(ms);
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
      for (let tried = 1; ; tried++) {
        const answer = await send(delivery);
        if (!isLimit(answer, isAuthentic)) return answer;
        answered++;
        // Half the requests of a second: most limits count by the second or the minute.
        gapMs = Math.min(200, Math.max(10, gapMs * 2));
        if (tried === mostTries || pausedMs >= budgetMs) return answer;
        await wait(pauseOf(answer, tried));
      }
    },
    /** `undefined` if nothing was limited. */
    summary: () => (answered === 0 ? undefined : { answered, pausedMs: Math.round(pausedMs) }),
  };
}

/**
 * 429, and 503 that says when to come again. Forgeries with such a 503 are refused: receivers that read their keys again
 * answer so.
 */
function isLimit(answer: PostAnswer, isAuthentic: boolean): boolean {
  if (answer.kind !== 'answered') return false;
  const { status, headers } = answer;
  return status === 429 || (status === 503 && isAuthentic && headers.has('retry-after'));
}

function pauseOf(answer: PostAnswer, tried: number): number {
  const seconds = answer.kind === 'answered' ? Number(answer.headers.get('retry-after')) : 0;
  const wished = seconds > 0 ? seconds * 1000 : 100 * 2 ** tried;
  return Math.min(longestPauseMs, wished);
}
