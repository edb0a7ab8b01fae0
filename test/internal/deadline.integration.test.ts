import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DeadlineError, settledWithin, withDeadline } from '../../src/internal/deadline.ts';
import { nextTurn } from '../support/next-turn.ts';
import { ownTimers } from '../support/own-timers.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Nobody else's. */
const ms = 1_234_567;

/** Lets what is due before any timer run. */
const afterTicks = () => nextTurn();
const never = () => new Promise<never>(() => {});

describe('work with a deadline', () => {
  it('gives its result, and leaves no timer and no listener behind', async () => {
    const timers = ownTimers(ms);
    const outer = new AbortController();
    const { promise, resolve } = Promise.withResolvers<string>();
    const result = withDeadline({ ms, signal: outer.signal }, () => promise);
    await afterTicks();
    expect(timers.left()).toBe(1);
    resolve('done');
    expect(await result).toBe('done');
    expect(timers.left()).toBe(0);
    expect(getEventListeners(outer.signal, 'abort')).toEqual([]);
  });

  it.each([undefined, () => new Error('too late')])(
    'ends at the deadline with its error, which aborts its signal too: %s',
    async (tooLate) => {
      const outer = new AbortController();
      let own: AbortSignal | undefined;
      const result = withDeadline({ ms: 1_000, signal: outer.signal, tooLate }, (signal) => {
        own = signal;
        return never();
      });
      const ended = expect(result).rejects.toThrow(tooLate?.() ?? new DeadlineError(1_000));
      await afterTicks();
      await vi.advanceTimersByTimeAsync(999);
      expect(own?.aborted).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      await ended;
      expect(own?.reason).toEqual(tooLate?.() ?? new DeadlineError(1_000));
      expect(getEventListeners(outer.signal, 'abort')).toEqual([]);
    },
  );

  it('ends with the reason of the outer signal', async () => {
    const outer = new AbortController();
    const reason = new Error('stopped');
    const timers = ownTimers(ms);
    let own: AbortSignal | undefined;
    const result = withDeadline({ ms, signal: outer.signal }, (signal) => {
      own = signal;
      return never();
    });
    const ended = expect(result).rejects.toBe(reason);
    await afterTicks();
    outer.abort(reason);
    await ended;
    expect(own?.reason).toBe(reason);
    expect(timers.left()).toBe(0);
    expect(getEventListeners(outer.signal, 'abort')).toEqual([]);
  });

  it('is not begun when the outer signal is aborted already', async () => {
    const run = vi.fn(never);
    await expect(withDeadline({ ms: 1_000, signal: AbortSignal.abort('gone') }, run)).rejects.toBe('gone');
    expect(run).not.toHaveBeenCalled();
  });

  it('drops a result that comes late, and its late error', async () => {
    const { promise, reject } = Promise.withResolvers<string>();
    const ended = expect(withDeadline({ ms: 1_000 }, () => promise)).rejects.toBeInstanceOf(DeadlineError);
    await afterTicks();
    await vi.advanceTimersByTimeAsync(1_000);
    await ended;
    reject(new Error('late'));
    await afterTicks();
  });

  it('may take longer than a timer can hold', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const result = withDeadline({ ms: Number.POSITIVE_INFINITY }, () => promise);
    await afterTicks();
    await vi.advanceTimersByTimeAsync(60_000);
    resolve('done');
    expect(await result).toBe('done');
  });
});

it('settledWithin is true when all have settled in time, whatever they settled with', async () => {
  expect(await settledWithin([Promise.resolve(1), Promise.reject(new Error('boom'))], ms)).toBe(true);
  const settled = settledWithin([Promise.resolve(1), never()], 1_000);
  await afterTicks();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await settled).toBe(false);
});
