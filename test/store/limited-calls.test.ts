import { expect, it, onTestFinished, vi } from 'vitest';
import { limitCalls } from '../../src/store/limited-calls.ts';

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
  await expect(call(() => work.promise, failed)).rejects.toThrow('failed');
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
