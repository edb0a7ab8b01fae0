import { invalidOption } from '../options/check-values.ts';
import { type BulkOptions, resolveBulkOptions } from './bulk-options.ts';
import { type BulkProgress, countProgress } from './bulk-progress.ts';
import type { BulkResult } from './bulk-row.ts';
import { createRun } from './create-run.ts';
import { resultQueue } from './result-queue.ts';

/** A run of a campaign. Iterating over it is what sends; it can be iterated once. */
export interface BulkRun extends AsyncIterable<BulkResult> {
  /** Begins no further message until `resume`. */
  pause(): void;
  resume(): void;
  /** Begins no further message; the iteration ends once those under way are settled. */
  stop(): void;
  readonly progress: BulkProgress;
}

/**
 * Sends many messages, at a steady pace, and no number of a campaign gets two. It can be stopped or killed at any
 * point: a second run over the same rows, on this machine or another one, goes on where the first one stood.
 *
 * Each number is claimed in the store before its request and settled after it. Where the reply was lost, or the process
 * died in between, the message is `unknown`, and is not sent again unless `repeat` says so.
 *
 * Status 429 pauses a device for as long as the service asks, 401 and 403 stop it. Results come in the order in which
 * they are known. Leaving the loop early stops the run.
 *
 * @throws {ConfigurationError} `invalid_option`, at once; from the iteration what the messenger's own configuration lacks
 * @throws {BulkError} from the iteration, when the run ends before its last row
 * @throws {StoreError} from the iteration; what was being sent then is `unknown` to the next run
 * @example
 * ```ts
 * const run = sendBulk({ messenger, store, campaign: 'newsletter-11', rows: readBulkCsv(createReadStream('rows.csv')) });
 * process.once('SIGINT', () => run.stop());
 * for await (const { key, state, code } of run) if (state !== 'sent') console.log(key, state, code);
 * console.log(run.progress);
 * ```
 */
export function sendBulk(options: BulkOptions): BulkRun {
  const resolved = resolveBulkOptions(options);
  const { total, now, signal, onProgress } = resolved;
  const results = resultQueue<BulkResult>();
  const run = createRun(resolved, results);
  const progress = countProgress({ total, now, isPaused: () => run.isPaused, onProgress });
  let isIterated = false;

  async function* iterate(): AsyncGenerator<BulkResult, void, undefined> {
    progress.begin();
    signal?.addEventListener('abort', run.stop);
    if (signal?.aborted) run.stop();
    const ended = run.start();
    try {
      for await (const result of results.until(ended)) {
        progress.add(result);
        yield result;
      }
      // Throws what ended the run early.
      await ended;
      signal?.throwIfAborted();
    } finally {
      run.stop();
      results.discard();
      await ended.catch(() => {});
      signal?.removeEventListener('abort', run.stop);
      progress.end();
    }
  }

  return {
    [Symbol.asyncIterator]() {
      if (isIterated) throw invalidOption('A bulk run can be iterated once: call sendBulk again.');
      isIterated = true;
      return iterate();
    },
    pause: run.pause,
    resume: run.resume,
    stop: run.stop,
    get progress() {
      return progress.current();
    },
  };
}
