import { getEventListeners } from 'node:events';
import { expect, it, onTestFinished, vi } from 'vitest';
import { limitConcurrency, type Slot } from '../../src/client/slots.ts';
import { times } from '../support/repeat.ts';
import { processorMs } from '../support/timing.ts';

/** A slot that is given back is free in the next turn. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setTimeout(resolve));
}

const noDeadline = { ms: Number.POSITIVE_INFINITY };

/** Whether a slot is taken at once. */
async function isFree(one: Slot): Promise<boolean> {
  const taken = one.take(noDeadline).then(() => true);
  return await Promise.race([taken, turns().then(() => false)]);
}

it('a limit of two slots gives them to those who came first, once for each release, and forgets who is done', async () => {
  const { slot } = limitConcurrency(2);
  const [first, second, third, fourth] = [slot(), slot(), slot(), slot()];
  const started: Slot[] = [];
  const take = (one: Slot) => void one.take(noDeadline).then(() => started.push(one));

  for (const one of [first, second, third, fourth]) take(one);
  await turns();
  expect(started).toEqual([first, second]);
  second.release();
  await turns();
  expect(started).toEqual([first, second, third]);

  // Released twice, it is one slot.
  second.release();
  await turns();
  expect(started).not.toContain(fourth);

  // The fourth stops waiting.
  const last = slot();
  take(last);
  fourth.release();
  first.release();
  await turns();
  await turns();
  expect(started).toEqual([first, second, third, last]);
  for (const one of [third, last]) one.release();
  expect([await isFree(slot()), await isFree(slot()), await isFree(slot())]).toEqual([true, true, false]);
});

it('a call that is aborted while waiting gets the reason, and takes no slot', async () => {
  const { slot } = limitConcurrency(1);
  const holder = slot();
  await holder.take(noDeadline);
  const controller = new AbortController();
  const waiting = slot().take({ ms: Number.POSITIVE_INFINITY, signal: controller.signal });
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  controller.abort(new RangeError('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  holder.release();
  expect(await isFree(slot())).toBe(true);
});

it('a call that is aborted when its turn is about to come leaves it to the next', async () => {
  const { slot } = limitConcurrency(1);
  const holder = slot();
  await holder.take(noDeadline);
  const controller = new AbortController();
  const aborted = slot().take({ ms: Number.POSITIVE_INFINITY, signal: controller.signal });
  const next = slot().take(noDeadline);
  holder.release();
  controller.abort();
  await expect(aborted).rejects.toThrow();
  await next;
});

it('a call that waits until its deadline gets its error, and takes no slot', async () => {
  const { slot } = limitConcurrency(1);
  const holder = slot();
  await holder.take(noDeadline);
  await expect(slot().take({ ms: 5, tooLate: () => new RangeError('late') })).rejects.toThrow('late');
  holder.release();
  expect(await isFree(slot())).toBe(true);
});

it('a call that was aborted before does not wait', async () => {
  const { slot } = limitConcurrency(1);
  await slot().take(noDeadline);
  await expect(
    slot().take({ ms: Number.POSITIVE_INFINITY, signal: AbortSignal.abort(new RangeError('enough')) }),
  ).rejects.toThrow('enough');
});

it('a limit is off on workerd, where a cancelled request never releases its slot', async () => {
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
  onTestFinished(() => void vi.unstubAllGlobals());
  const { slot } = limitConcurrency(1);
  expect([await isFree(slot()), await isFree(slot())]).toEqual([true, true]);
  await slot().take(noDeadline);
});

it('a limit leaves nothing on a signal when the wait is over', async () => {
  const { slot } = limitConcurrency(1);
  const holder = slot();
  await holder.take(noDeadline);
  const { signal } = new AbortController();
  const waiting = slot().take({ ms: Number.POSITIVE_INFINITY, signal });
  holder.release();
  await waiting;
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

const many = times(50_000, 200_000);
it(`gives ${many} waiting their turn without slowing down`, async () => {
  const count = many;
  const { slot } = limitConcurrency(1_000);
  let done = 0;
  const began = processorMs();
  await Promise.all(
    Array.from({ length: count }, async () => {
      const own = slot();
      await own.take(noDeadline);
      done++;
      own.release();
    }),
  );
  expect(done).toBe(count);
  // A queue that is searched for its head takes minutes.
  expect(processorMs() - began).toBeLessThan(20_000);
});
