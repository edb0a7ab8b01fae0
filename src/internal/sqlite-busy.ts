import { setTimeout } from 'node:timers';
import { backoffDelay } from './backoff.ts';

/**
 * Milliseconds for which SQLite itself may wait for another process. It blocks the event loop meanwhile, so every longer
 * wait is ours.
 */
export const blockingWaitMs = 20;

const backoff = { firstDelayMs: 5, maxDelayMs: 50 };

/** Milliseconds until the file is tried again after it was locked so many times. */
export function busyDelay(tries: number): number {
  return backoffDelay(tries, backoff);
}

/** Whether another process kept the file locked: SQLITE_BUSY, and its extended codes. */
export function isBusy(error: unknown): boolean {
  return errorCode(error) === 5;
}

/** Whether the disk or the file is full: SQLITE_FULL. */
export function isFull(error: unknown): boolean {
  return errorCode(error) === 13;
}

/** Reads the file, again and again while another process keeps it locked, for at most `limitMs`. */
export async function readWhenFree<Result>(read: () => Result, limitMs: number): Promise<Result> {
  const deadline = performance.now() + limitMs;
  for (let tries = 1; ; tries++) {
    try {
      return read();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, busyDelay(tries)));
  }
}

function errorCode(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return undefined;
  return error.errcode & 0xff;
}
