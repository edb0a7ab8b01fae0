import { backoffDelay, sleep } from '../../internal/backoff.ts';

/** SQLite's own wait for another process, in milliseconds. It blocks the event loop, so longer waits are ours. */
export const blockingWaitMs = 20;

const backoff = { firstDelayMs: 5, maxDelayMs: 50 };

export function busyDelay(tries: number): number {
  return backoffDelay(tries, backoff);
}

/** SQLITE_BUSY and its extended codes: another process kept the file locked. */
export function isBusy(error: unknown): boolean {
  return errorCode(error) === 5;
}

/** SQLITE_FULL: the disk or the file is full. */
export function isFull(error: unknown): boolean {
  return errorCode(error) === 13;
}

/** Reads again while another process keeps the file locked, for at most `limitMs`. */
export async function readWhenFree<Result>(read: () => Result, limitMs: number): Promise<Result> {
  const deadline = performance.now() + limitMs;
  for (let tries = 1; ; tries++) {
    try {
      return read();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    await sleep(busyDelay(tries));
  }
}

function errorCode(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return undefined;
  return error.errcode & 0xff;
}
