import { BulkError } from '../errors/errors.ts';
import { type TracedWork, traced } from '../internal/tracing.ts';
import type { BulkSettings } from './bulk-options.ts';
import { type BulkResult, type CheckedRow, checkRow, rowReader } from './bulk-rows.ts';
import { campaignClaims, type Settled } from './claims.ts';
import { type PacedDevice, pacedDevice, type SendOutcome, sendRow } from './device.ts';

type GoodRow = Extract<CheckedRow, { message: string }>;

/** How long to wait before a row that another process is sending is read again. */
const peekAgainMs = 1000;

/** @param handOver resolves when the result has been read: a slow reader slows the run down */
export function createRun(options: BulkSettings, handOver: (result: BulkResult) => Promise<void>) {
  const { sleep, stopAfterFailures, leaseMs, now } = options;
  const halt = new AbortController();
  const claims = campaignClaims({ ...options, owner: globalThis.crypto.randomUUID() });
  const devices = options.messenger.map((messenger) => pacedDevice(messenger, options));
  const rows = rowReader(options.rows, (row, position) => checkRow(row, position, options));
  /** The numbers of a dry run. */
  const seen = options.dryRun ? new Set<string>() : undefined;
  const returned: { readonly row: GoodRow; readonly settled: Settled | undefined }[] = [];
  let resumed: PromiseWithResolvers<void> | undefined;
  let failuresInARow = 0;
  let failure: { readonly error: unknown } | undefined;

  function stop(): void {
    halt.abort();
    resumed?.resolve();
  }

  function fail(error: unknown): void {
    failure ??= { error };
    stop();
  }

  /** Until a pause, or the run, ends. Another pause may have begun by then. */
  async function unpaused(): Promise<void> {
    while (resumed !== undefined && !halt.signal.aborted) await resumed.promise;
  }

  async function work(device: PacedDevice): Promise<void> {
    while (!halt.signal.aborted && !device.isStopped) {
      await unpaused();
      const waiting = returned.shift();
      const row = waiting?.row ?? (await rows.next(halt.signal));
      if (row === undefined) return;
      const result = 'problem' in row ? invalid(row) : await resultOf(row, device, waiting?.settled);
      if (result !== undefined) await handOver(result);
    }
  }

  /** Sends a row, unless it is settled. `undefined` if it is left to a later run or to another device. */
  async function resultOf(
    row: GoodRow,
    device: PacedDevice,
    earlierAttempt?: Settled,
  ): Promise<BulkResult | undefined> {
    const subject = claims.subject(row.to_phone, row.key);
    let attempt = earlierAttempt;
    const unfinished = () => attempt && { key: row.key, ...attempt, replayed: false };
    let waitedMs = 0;
    for (;;) {
      const claim = await claims.peek(subject, attempt);
      if (claim.kind === 'duplicate' || seen?.has(subject.key)) return duplicate(row);
      if (claim.kind === 'settled') return { key: row.key, ...claim.settled, replayed: true };
      if (claim.kind === 'busy') {
        // Counted here, since a clock that was set back makes the claim seem to end later.
        if (waitedMs >= leaseMs)
          return { key: row.key, state: 'unknown', attempts: claim.attempts, replayed: true };
        await sleep(peekAgainMs, halt.signal);
        waitedMs += peekAgainMs;
        if (halt.signal.aborted) return unfinished();
        continue;
      }
      if (seen !== undefined) {
        seen.add(subject.key);
        return { key: row.key, state: 'not-sent', attempts: claim.attempts, replayed: false };
      }
      // A turn that came during a pause is lost: otherwise all workers would send at once at its end.
      do {
        await unpaused();
        await device.waitForTurn(halt.signal);
      } while (resumed !== undefined && !halt.signal.aborted);
      if (halt.signal.aborted) return unfinished();
      if (device.isStopped) return giveBack(row, attempt);
      const claimed = await claims.claim(subject, attempt);
      // Another worker or process has claimed it.
      if (claimed.kind !== 'free') continue;
      const { until = 0 } = claimed;
      const outcome = await traced(
        'bulk',
        () => bulkTrace(claimed.attempts),
        () => sendRow(device, row, () => until - now()),
      );
      attempt = toSettled(outcome, claimed.attempts);
      count(outcome);
      await claims.settle(subject, attempt).catch(fail);
      if (outcome.next === 'other-device') return giveBack(row, attempt);
      if (outcome.next !== 'retry') return unfinished();
    }
  }

  function giveBack(row: GoodRow, settled: Settled | undefined): undefined {
    returned.push({ row, settled });
    return undefined;
  }

  function count({ state, error, next, fatal, isCounted = true }: SendOutcome): void {
    if (state === 'sent') failuresInARow = 0;
    else if (isCounted) failuresInARow++;
    if (next === 'stop') fail(fatal);
    else if (devices.every(({ isStopped }) => isStopped)) fail(noDeviceLeft(error));
    else if (failuresInARow >= stopAfterFailures) fail(tooManyFailures(failuresInARow, error));
  }

  return {
    stop,
    pause(): void {
      resumed ??= Promise.withResolvers();
    },
    resume(): void {
      resumed?.resolve();
      resumed = undefined;
    },
    get isPaused(): boolean {
      return resumed !== undefined;
    },
    /** Resolves at the end of the rows or after `stop`; rejects with the error that ended the run early. */
    async start(): Promise<void> {
      do {
        const workers = devices.flatMap((device) =>
          Array.from({ length: options.concurrency }, () => work(device).catch(fail)),
        );
        await Promise.all(workers);
        // A device may have returned its row after the others had run out of rows.
      } while (returned.length > 0 && !halt.signal.aborted && devices.some(({ isStopped }) => !isStopped));
      for (const { row, settled } of returned) {
        if (settled !== undefined) await handOver({ key: row.key, ...settled, replayed: false });
      }
      rows.close();
      if (failure !== undefined) throw failure.error;
    },
  };
}

/** What subscribers of `partner-exchange:bulk` get of one message. */
interface BulkTrace {
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  readonly outcome?: SendOutcome['state'];
  readonly status?: number | undefined;
  readonly code?: string | undefined;
}

function bulkTrace(attempt: number): TracedWork<BulkTrace, SendOutcome> {
  return {
    start: () => ({ attempt }),
    result: ({ state, error }) => ({ outcome: state, status: error?.status, code: error?.code }),
    failure: () => ({ outcome: 'unknown', code: 'failed' }),
  };
}

function invalid({ key, problem }: { readonly key: string; readonly problem: string }): BulkResult {
  return { key, state: 'invalid', attempts: 0, code: 'invalid_input', problem, replayed: false };
}

function duplicate({ key }: GoodRow): BulkResult {
  return { key, state: 'duplicate', attempts: 0, replayed: false };
}

function toSettled({ state, error }: SendOutcome, attempts: number): Settled {
  return {
    state,
    attempts,
    ...(error && { code: error.code }),
    ...(error?.status !== undefined && { status: error.status }),
  };
}

function tooManyFailures(failures: number, cause: unknown): BulkError {
  return new BulkError('too_many_failures', `${failures} messages in a row were not sent.`, { cause });
}

function noDeviceLeft(cause: unknown): BulkError {
  return new BulkError('no_device_left', 'The service refused the API key of every device.', { cause });
}
