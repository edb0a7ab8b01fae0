import { expect, it, onTestFinished, vi } from 'vitest';
import { keyQueue, sharedKeyQueue } from '../../src/store/key-queue.ts';
import { nextTurn } from '../support/next-turn.ts';

const forEver = () => new Promise<string>(() => {});

it('a queue of keys lets changes of one key wait for each other, and others go on', async () => {
  const inTurn = sharedKeyQueue();
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const changes = [
    inTurn(['a'], () => first.promise.then(() => done.push('a first'))),
    inTurn(['a', 'b'], async () => done.push('a and b')),
    inTurn(['c'], async () => done.push('c')),
  ];
  await vi.waitFor(() => expect(done).toEqual(['c']));
  first.resolve();
  await Promise.all(changes);
  expect(done).toEqual(['c', 'a first', 'a and b']);
});

it('a queue of keys waits for the last change of a key that has waited itself', async () => {
  const inTurn = keyQueue();
  const second = Promise.withResolvers<void>();
  const done: string[] = [];
  const first = inTurn(['a'], async () => done.push('first'));
  void inTurn(['a'], () => second.promise.then(() => done.push('second')));
  await first;
  await nextTurn();
  const third = inTurn(['a'], async () => done.push('third'));
  await nextTurn();
  second.resolve();
  await third;
  expect(done).toEqual(['first', 'second', 'third']);
});

it.each([
  [999, 'changed'],
  [1_000, 'store_failed'],
])('a queue of keys with a limit of 1,000 ms ends a wait of %i ms with %s', async (waited, end) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersByTime(5_000);
  const inTurn = keyQueue(1_000);
  const first = Promise.withResolvers<void>();
  void inTurn(['a'], () => first.promise);
  await nextTurn();
  const second = inTurn(['a'], async () => 'changed').catch(({ code }) => code);
  vi.advanceTimersByTime(waited);
  first.resolve();
  expect(await second).toBe(end);
});

it('a queue of keys waits for nothing on workerd, where the work of a cancelled request never ends', async () => {
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
  onTestFinished(() => void vi.unstubAllGlobals());
  const inTurn = sharedKeyQueue();
  void inTurn(['a'], forEver);
  expect(await inTurn(['a'], async () => 'changed')).toBe('changed');
});
