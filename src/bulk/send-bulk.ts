import { invalidOption } from '../internal/options.ts';
import { type BulkOptions, readBulkOptions } from './bulk-options.ts';
import { type BulkProgress, countProgress } from './bulk-progress.ts';
import type { BulkResult } from './bulk-rows.ts';
import { createRun } from './bulk-run.ts';

/** A run of a campaign. It sends while it is iterated, which is possible once. */
export interface BulkRun extends AsyncIterable<BulkResult> {
  /** Begins no further message until `resume`. */
  pause(): void;
  /** Goes on after `pause`. */
  resume(): void;
  /** Begins no further message; the iteration ends once those under way are settled. */
  stop(): void;
  /** Counts of this run, at this moment. */
  readonly progress: BulkProgress;
}

/**
 * Sends many messages at a steady pace, and no number of a campaign gets two. It can be stopped or killed at any point:
 * a second run over the same rows, on any machine, goes on where the first one stopped.
 *
 * Each number is claimed in the store before its request and settled after it. Where the reply was lost, or the process
 * died in between, the message is `unknown`, and is not sent again unless `repeat` says so.
 *
 * Status 429 pauses a device for as long as the service asks, 401 and 403 stop it. Results come as soon as they are
 * known. Leaving the loop early stops the run.
 *
 * @throws {ConfigurationError} `invalid_option`, at once; from the iteration for the messenger's own configuration
 * @throws {BulkError} from the iteration, when the run ends before its last row
 * @throws {StoreError} from the iteration; messages under way then are `unknown` to the next run
 * @example
 * ```ts
 * const run = sendBulk({ messenger, store, campaign: 'newsletter-11', rows: readBulkCsv(createReadStream('rows.csv')) });
 * process.once('SIGINT', () => run.stop());
 * for await (const { key, state, code } of run) if (state !== 'sent') console.log(key, state, code);
 * console.log(run.progress);
 * ```
 */
export function sendBulk(options: BulkOptions): BulkRun {
  const settings = readBulkOptions(options);
  const { rows, now, signal, onProgress } = settings;
  const total = settings.total ?? (Array.isArray(rows) ? rows.length : undefined);
  const results = resultQueue();
  const run = createRun(settings, results.push);
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

/** From several workers to one reader. */
function resultQueue() {
  const waiting: { readonly result: BulkResult; readonly taken: () => void }[] = [];
  let isDiscarded = false;
  let wake = () => {};
  return {
    /** Resolves when the reader has taken it. */
    push(result: BulkResult): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (isDiscarded) return Promise.resolve();
      waiting.push({ result, taken: resolve });
      wake();
      return promise;
    },
    /** The results until `ended` has settled and all are read. */
    async *until(ended: Promise<unknown>): AsyncGenerator<BulkResult, void, undefined> {
      let isOver = false;
      const over = () => {
        isOver = true;
        wake();
      };
      ended.then(over, over);
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) {
          next.taken();
          yield next.result;
        } else if (isOver) {
          return;
        } else {
          const { promise, resolve } = Promise.withResolvers<void>();
          wake = resolve;
          await promise;
        }
      }
    },
    /** Drops results, now and later. */
    discard(): void {
      isDiscarded = true;
      for (const { taken } of waiting.splice(0)) taken();
    },
  };
}
