import { isHTTPError, isTimeoutError } from 'ky';
import { backoffDelay } from '../runtime/backoff.ts';
import type { Call } from './call.ts';
import type { CallState } from './call-state.ts';
import type { ResolvedClientOptions } from './client-options.ts';
import type { Place } from './concurrency-limit.ts';
import { AttemptFailure } from './outcome.ts';
import { retryAfterMs } from './retry-after.ts';

/** The statuses after which a request may be sent again. */
const repeatableStatuses = {
  always: [408, 429, ...Array.from({ length: 100 }, (_, index) => 500 + index)],
  'unless-acted': [429],
  'unless-sent': [],
} as const satisfies Record<Call<unknown>['repeat'], readonly number[]>;

/** Replaces a status that a Response object refuses: 999, or 100 where a runtime passes it on. */
export const unheardStatus = 599;

export function isUnheard(status: number): boolean {
  return status < 200 || status > 599;
}

/** When ky sends a call again, and how long it waits before. */
export function retryRules(
  call: Call<unknown>,
  client: ResolvedClientOptions,
  { state, place }: { state: CallState; place: Place },
) {
  const { firstDelayMs, maxDelayMs } = client.retry;
  const asked = () => askedToWait(state, client);
  return {
    // ky counts only the repetitions.
    limit: client.maxAttempts - 1,
    methods: [call.method.toLowerCase()],
    statusCodes: [...repeatableStatuses[call.repeat]],
    // ky would read several headers, use its own clock and set no limit. We read Retry-After ourselves.
    afterStatusCodes: [],
    delay: (attemptCount: number) =>
      asked() ?? backoffDelay(attemptCount, { firstDelayMs, maxDelayMs }, client.random),
    backoffLimit: maxDelayMs,
    shouldRetry: ({ error }: { error: Error }) => {
      // The attempt is over: while this call waits for the next one, others go first.
      place.leave();
      if (isHTTPError(error)) {
        // `undefined` lets the list of statuses above decide.
        return (asked() ?? 0) > maxDelayMs || isUnheard(state.reply?.status ?? 200) ? false : undefined;
      }
      if (error instanceof AttemptFailure) {
        if (error.code === 'reply_too_large') return false;
        return call.repeat === 'always' || error.outcome === 'not-sent';
      }
      state.abandon();
      return isTimeoutError(error) && call.repeat === 'always';
    },
  };
}

/** The milliseconds that the last reply asks to wait. */
export function askedToWait(state: CallState, client: ResolvedClientOptions): number | undefined {
  return state.reply === undefined ? undefined : retryAfterMs(state.reply.headers, client.now());
}
