import { expect, it, onTestFinished, vi } from 'vitest';
import { sharedKeyQueue } from '../../src/store/key-queue.ts';

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

it('a queue of keys waits for nothing on workerd, where the work of a cancelled request never ends', async () => {
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
  onTestFinished(() => void vi.unstubAllGlobals());
  const inTurn = sharedKeyQueue();
  void inTurn(['a'], forEver);
  expect(await inTurn(['a'], async () => 'changed')).toBe('changed');
});
