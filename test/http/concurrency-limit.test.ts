import { getEventListeners } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { limitConcurrency, type Place } from '../../src/http/concurrency-limit.ts';

describe('a limit of two places', () => {
  const { place } = limitConcurrency(2);
  const [first, second, third, fourth] = [place(), place(), place(), place()];
  const started: Place[] = [];
  const take = (one: Place) => void one.take().then(() => started.push(one));
  const settled = () => new Promise<void>((resolve) => setTimeout(resolve, 20));

  it('gives places to those who came first', async () => {
    for (const one of [first, second, third, fourth]) take(one);
    await settled();
    expect(started).toEqual([first, second]);
    second.leave();
    await settled();
    expect(started).toEqual([first, second, third]);
  });

  it('is not confused when a place is given back twice', async () => {
    second.leave();
    await settled();
    expect(started).not.toContain(fourth);
  });

  it('forgets who stops waiting', async () => {
    const last = place();
    take(last);
    fourth.leave();
    first.leave();
    await settled();
    await settled();
    expect(started).toEqual([first, second, third, last]);
    for (const one of [third, last]) one.leave();
    expect([place().takeIfFree(), place().takeIfFree(), place().takeIfFree()]).toEqual([true, true, false]);
  });
});

it('one who is aborted while waiting gets the reason, and takes no place', async () => {
  const { place } = limitConcurrency(1);
  const holder = place();
  holder.takeIfFree();
  const controller = new AbortController();
  const waiting = place().take(controller.signal);
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  controller.abort(new RangeError('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  holder.leave();
  expect(place().takeIfFree()).toBe(true);
});

it('who is aborted when its turn is about to come leaves it to the next', async () => {
  const { place } = limitConcurrency(1);
  const holder = place();
  holder.takeIfFree();
  const controller = new AbortController();
  const aborted = place().take(controller.signal);
  const next = place().take();
  holder.leave();
  controller.abort();
  await expect(aborted).rejects.toThrow();
  await next;
});

it('one who was aborted before does not wait', async () => {
  const { place } = limitConcurrency(1);
  place().takeIfFree();
  await expect(place().take(AbortSignal.abort(new RangeError('enough')))).rejects.toThrow('enough');
});

it('does not limit on workerd, where a cancelled request never gives its place back', async () => {
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
  onTestFinished(() => void vi.unstubAllGlobals());
  const { place } = limitConcurrency(1);
  expect([place().takeIfFree(), place().takeIfFree()]).toEqual([true, true]);
  await place().take();
});

it('leaves nothing on a signal when the wait is over', async () => {
  const { place } = limitConcurrency(1);
  const holder = place();
  holder.takeIfFree();
  const { signal } = new AbortController();
  const waiting = place().take(signal);
  holder.leave();
  await waiting;
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

it('gives 200,000 waiting their turn without slowing down', async () => {
  const count = 200_000;
  const { place } = limitConcurrency(1_000);
  let done = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: count }, async () => {
      const own = place();
      await own.take();
      done++;
      own.leave();
    }),
  );
  expect(done).toBe(count);
  // A queue that is searched for its head takes minutes.
  expect(performance.now() - began).toBeLessThan(20_000);
});
