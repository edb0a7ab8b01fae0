import { BulkError } from '../errors/bulk-error.ts';
import type { ResolvedBulkOptions } from './bulk-options.ts';
import type { BulkResult } from './bulk-row.ts';
import { type CheckedRow, checkRow } from './check-row.ts';
import { campaignClaims, type Settled } from './claims.ts';
import { type PacedDevice, pacedDevice } from './device.ts';
import { seenInDryRun } from './dry-run.ts';
import type { ResultQueue } from './result-queue.ts';
import { rowReader } from './row-reader.ts';
import { type SendOutcome, sendRow } from './send-row.ts';

type GoodRow = Extract<CheckedRow, { message: string }>;

/** How often a row that another process is sending is looked at. */
const lookAgainMs = 1000;

/** The workers of a run: each takes a row, sends it on its device, and pushes what came of it. */
export function createRun(options: ResolvedBulkOptions, results: ResultQueue<BulkResult>) {
  const { sleep, stopAfterFailures, country, leaseMs } = options;
  const halt = new AbortController();
  const claims = campaignClaims({ ...options, owner: globalThis.crypto.randomUUID() });
  const devices = options.devices.map((messenger) => pacedDevice(messenger, options));
  const rows = rowReader(options.rows, (row, place) => checkRow(row, place, country));
  const seen = options.dryRun ? seenInDryRun() : undefined;
  /** Rows that a device could not send, for another device. */
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

  /** Waits for the end of a pause, or of the run. There may be another pause by the time that the first one has ended. */
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
      if (result !== undefined) await results.push(result);
    }
  }

  /**
   * Sends a row, unless it is settled. `undefined` if it is left to a later run or to another device.
   *
   * @param before what an earlier attempt of this run came to
   */
  async function resultOf(
    row: GoodRow,
    device: PacedDevice,
    before?: Settled,
  ): Promise<BulkResult | undefined> {
    const subject = claims.subject(row.to_phone, row.key);
    const unfinished = () => before && { key: row.key, ...before, replayed: false };
    let waitedMs = 0;
    for (;;) {
      const view = await claims.look(subject, before);
      if (view.kind === 'duplicate' || seen?.has(subject)) return duplicate(row);
      if (view.kind === 'settled') return { key: row.key, ...view.settled, replayed: true };
      if (view.kind === 'busy') {
        // Also when the clock was set back: then the claim seems to end later.
        if (waitedMs >= leaseMs)
          return { key: row.key, state: 'unknown', attempts: view.attempts, replayed: true };
        await sleep(lookAgainMs, halt.signal);
        waitedMs += lookAgainMs;
        if (halt.signal.aborted) return unfinished();
        continue;
      }
      if (seen !== undefined) {
        seen.add(subject);
        return { key: row.key, state: 'not_sent', attempts: view.attempts, replayed: false };
      }
      // A turn that a pause has outlasted is lost, or all who wait would send at once at its end.
      do {
        await unpaused();
        await device.turn(halt.signal);
      } while (resumed !== undefined && !halt.signal.aborted);
      if (halt.signal.aborted) return unfinished();
      if (device.isStopped) return giveBack(row, before);
      const claimed = await claims.claim(subject, before);
      // Somebody else was faster: look again.
      if (claimed.kind !== 'free') continue;
      const outcome = await sendRow(device, row);
      before = toSettled(outcome, claimed.attempts);
      count(outcome);
      await claims.settle(subject, before).catch(fail);
      if (outcome.blame === 'device') return giveBack(row, before);
      if (outcome.blame !== 'again') return unfinished();
    }
  }

  function giveBack(row: GoodRow, settled: Settled | undefined): undefined {
    returned.push({ row, settled });
    return undefined;
  }

  function count({ state, error, blame, fatal, isCounted = true }: SendOutcome): void {
    if (state === 'sent') failuresInARow = 0;
    else if (isCounted) failuresInARow++;
    if (blame === 'run') fail(fatal);
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
    /** Resolves at the end of the rows or after `stop`; rejects with what ended the run early. */
    async start(): Promise<void> {
      do {
        const workers = devices.flatMap((device) =>
          Array.from({ length: options.concurrency }, () => work(device).catch(fail)),
        );
        await Promise.all(workers);
        // The device that was stopped last may have given its row back when the others had run out of rows.
      } while (returned.length > 0 && !halt.signal.aborted && devices.some(({ isStopped }) => !isStopped));
      for (const { row, settled } of returned) {
        if (settled !== undefined) await results.push({ key: row.key, ...settled, replayed: false });
      }
      rows.close();
      if (failure !== undefined) throw failure.error;
    },
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
  return new BulkError(
    'too_many_failures',
    `${failures} messages in a row were not sent: see the cause, mend it, and run the campaign again.`,
    { cause },
  );
}

function noDeviceLeft(cause: unknown): BulkError {
  return new BulkError(
    'no_device_left',
    'The service refused the API key of every device: see the cause, pair a device, and run the campaign again.',
    { cause },
  );
}
