import { expect, it, onTestFinished, vi } from 'vitest';
import {
  limitCalls,
  limitEngineCalls,
  maybeWritten,
  nothingWritten,
  storeConflict,
} from '../../src/store/limited-calls.ts';

const forEver = () => new Promise<string>(() => {});
const failed = (error: unknown) => new Error('failed', { cause: error });

/** One call may wait, for a moment. */
function oneCall() {
  // real time: of the calls that wait none ends.
  return limitCalls({ storeTimeoutMs: 20, maxPending: 1 }, () => new Error('too many'));
}

it('a limit of calls counts a call until its work has ended, and not only until nobody waits for it', async () => {
  const call = oneCall();
  const work = Promise.withResolvers<string>();
  await expect(call(() => work.promise, failed)).rejects.toMatchObject({
    message: 'failed',
    cause: { message: expect.stringContaining('20 ms') },
  });
  await expect(call(async () => 'answer', failed)).rejects.toThrow('too many');
  work.resolve('late');
  await vi.waitFor(async () => expect(await call(async () => 'answer', failed)).toBe('answer'));
});

it('a limit of calls counts none on workerd, where the work of a cancelled request never ends', async () => {
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
  onTestFinished(() => void vi.unstubAllGlobals());
  const call = oneCall();
  await expect(call(forEver, failed)).rejects.toThrow('failed');
  expect(await call(async () => 'answer', failed)).toBe('answer');
});

it('a limit of calls aborts the signal of work that takes too long before it says that it failed', async () => {
  let given: AbortSignal | undefined;
  const work = (signal: AbortSignal) => {
    given = signal;
    return forEver();
  };
  const failed = () => new Error(given?.aborted ? 'aborted' : 'goes on');
  await expect(oneCall()(work, failed)).rejects.toThrow('aborted');
});

it('a limit of calls takes as many at once as it says, and counts none that has ended', async () => {
  const call = limitCalls({ storeTimeoutMs: 60_000, maxPending: 2 }, () => new Error('too many'));
  const work = Promise.withResolvers<string>();
  const running = [call(() => work.promise, failed), call(() => work.promise, failed)];
  await expect(call(async () => 'answer', failed)).rejects.toThrow('too many');
  work.resolve('answer');
  expect(await Promise.all(running)).toEqual(['answer', 'answer']);
  for (let times = 0; times < 4; times++) {
    const failing = call(() => Promise.reject(new Error('no')), failed);
    await expect(failing).rejects.toMatchObject({ message: 'failed', cause: { message: 'no' } });
  }
});

it('a limit of calls ends work that throws before it returns a promise', async () => {
  const throwing = () => {
    throw new Error('no');
  };
  const call = oneCall();
  for (let times = 0; times < 2; times++) await expect(call(throwing, failed)).rejects.toThrow('failed');
});

it('an engine has 10,000 transactions wait for it, and refuses more with store_failed', async () => {
  const call = limitEngineCalls(60_000);
  const work = Promise.withResolvers<null>();
  const running = Array.from({ length: 10_000 }, () => call(() => work.promise, failed));
  await expect(call(() => work.promise, failed)).rejects.toMatchObject({
    name: 'StoreError',
    code: 'store_failed',
  });
  work.resolve(null);
  expect((await Promise.all(running)).length).toBe(10_000);
});

it.each([
  ['store_failed', nothingWritten, /nothing was written/],
  ['store_failed', maybeWritten, /may have been written/],
  ['store_conflict', storeConflict, /nothing was written/],
])('an error %s of a store has its cause, and says whether anything was written', (code, make, written) => {
  const cause = new Error('ECONNRESET');
  const error = make(cause);
  expect(error).toMatchObject({ name: 'StoreError', code, cause });
  expect(error.message).toMatch(written);
});
