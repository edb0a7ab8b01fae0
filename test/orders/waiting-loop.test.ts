import { describe, expect, it, vi } from 'vitest';
import { bench, keySets, named, order, ringBench } from './service.ts';
import { idle, loopOf } from './stepped-loop.ts';

/** Orders that wait for the keys that the service takes. */
async function waiting(...ids: string[]) {
  const keys = { now: keySets('old', { awaited: true }) };
  const made = ringBench(401, { key: 'new' }, keys);
  for (const id of ids) await made.journal.create(named(id));
  expect(made.tried.splice(0)).toHaveLength(ids.length);
  const newKeys = async () => {
    keys.now = keySets('new');
    await made.ring.reload();
  };
  return { ...made, newKeys };
}

describe('an order that the service answered with 429', () => {
  it('is sent again by the loop after Retry-After, and not before', async () => {
    const { journal, service, clock } = bench();
    service.next.push({ status: 429, headers: { 'retry-after': '30' } });
    expect((await journal.create(order)).state).toBe('waiting');
    const { pass, errors } = loopOf(journal);
    clock.now += 29_999;
    await pass();
    await idle();
    expect(service.requests).toHaveLength(1);
    clock.now += 1;
    await pass();
    await expect.poll(async () => await journal.get('A-1001')).toMatchObject({ state: 'accepted' });
    expect([service.requests, errors]).toEqual([['A-1001', 'A-1001'], []]);
  });
});

describe('orders that wait for keys', () => {
  it('are sent one at a time until the service takes the new keys, and then the others', async () => {
    const { journal, clock, tried, newKeys } = await waiting('a', 'b', 'c', 'd');
    const { pass, errors } = loopOf(journal);
    await expect.poll(() => errors.length).toBe(1);
    for (let second = 0; second < 30; second++) {
      clock.now += 1_000;
      await pass();
      await vi.waitFor(() => expect(errors).toHaveLength(tried.length));
    }
    // Not four in each second: one in five seconds at last.
    expect(tried.length).toBeGreaterThanOrEqual(5);
    expect(tried.length).toBeLessThanOrEqual(10);
    await newKeys();
    clock.now += 5_000;
    tried.splice(0);
    await pass();
    await expect.poll(() => tried).toEqual(['new']);
    await vi.waitFor(async () => {
      await pass();
      expect(tried).toEqual(['new', 'new', 'new', 'new']);
    });
    await expect.poll(async () => await journal.unsettled()).toEqual([]);
  });

  it('are tried after half a second, and then after pauses that double up to five seconds', async () => {
    const { journal, clock, tried } = await waiting('a', 'b');
    const { pass } = loopOf(journal);
    await expect.poll(() => tried).toHaveLength(1);
    await idle();
    for (const [index, pauseMs] of [500, 1_000, 2_000, 4_000, 5_000, 5_000].entries()) {
      clock.now += pauseMs - 1;
      await pass();
      await idle();
      expect(tried).toHaveLength(index + 1);
      clock.now += 1;
      await pass();
      await expect.poll(() => tried).toHaveLength(index + 2);
      await idle();
    }
  });

  it('are not sent together after one that did not reach the service: that says nothing of the keys', async () => {
    const { journal, tried, meanwhile } = await waiting('a', 'b', 'c');
    meanwhile.push(async () => {
      throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    });
    const { pass } = loopOf(journal);
    await expect.poll(async () => await journal.health()).toMatchObject({ waiting: 2, 'not-sent': 1 });
    await idle();
    await pass();
    await idle();
    expect(tried).toHaveLength(2);
  });

  it('do not wait for another order that is being sent', async () => {
    const { journal, clock, tried, meanwhile } = await waiting();
    const reply = Promise.withResolvers<void>();
    meanwhile.push(() => reply.promise);
    await journal.prepare(named('slow'));
    clock.now += 1_000;
    const { pass } = loopOf(journal);
    await expect.poll(() => tried).toHaveLength(1);
    await journal.create(named('a'));
    await pass();
    await expect.poll(() => tried).toHaveLength(3);
    reply.resolve();
  });
});
