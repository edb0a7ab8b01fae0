import { describe, expect, it, vi } from 'vitest';
import type { LeasedDelivery } from '../../src/inbox/handling-attempt.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { heldHandler, leaseOf, openWorker, pause } from './worker-bench.ts';

describe('what lost its lease', () => {
  it('waits for all that runs, and then runs with nothing beside it', async () => {
    const { handle, running, names } = heldHandler();
    const waiting = [leaseOf('suspect')];
    let isSeen = false;
    const { worker, sideBySide } = openWorker({
      handle,
      isAloneDue: async () => {
        isSeen = names().length > 0 && waiting.length > 0;
        return isSeen;
      },
      leaseAlone: async () => ({ leased: waiting.shift(), dead: [] }),
    });
    sideBySide.push(leaseOf('A'), leaseOf('B'));
    // Once it is seen to be due, nothing more is started.
    await vi.waitFor(() => expect([names(), isSeen]).toEqual([['A', 'B'], true]));
    sideBySide.push(leaseOf('C'));
    const rest = names();
    for (const name of rest) {
      expect(running.has('suspect')).toBe(false);
      running.get(name)?.();
    }
    await vi.waitFor(() => expect(names()).toEqual(['suspect']));
    // real time: nothing may happen meanwhile; a busy machine lets less happen.
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(names()).toEqual(['suspect']);
    running.get('suspect')?.();
    await vi.waitFor(() => expect(names()).toContain('C'));
    for (const end of running.values()) end();
    await worker.stop(1_000);
  });

  it('takes turns with the others: neither keeps the other waiting for ever', async () => {
    const order: string[] = [];
    const { worker, sideBySide, alone } = openWorker(
      {
        handle: async ({ name }) => {
          order.push(name);
          // There is always more of both.
          if (order.length < 20) (name === 'alone' ? alone : sideBySide).push(leaseOf(name));
          return 'handled';
        },
      },
      { concurrency: 1 },
    );
    sideBySide.push(leaseOf('other'));
    alone.push(leaseOf('alone'));
    await vi.waitFor(() => expect(order.length).toBeGreaterThanOrEqual(20));
    expect(order.filter((name) => name === 'alone').length).toBeGreaterThan(2);
    expect(order.join(' ')).not.toContain('alone alone');
    await worker.stop(1_000);
  });

  it('is reported as dead when the lease of its last attempt was lost', async () => {
    let due = true;
    const { worker, reports } = openWorker({
      handle: async () => 'handled',
      isAloneDue: async () => due,
      async leaseAlone() {
        due = false;
        return { leased: undefined, dead: [{ ...leaseOf('poison'), attempt: 8 }] };
      },
    });
    await vi.waitFor(() =>
      expect(reports).toMatchObject([
        { name: 'poison', outcome: 'dead', attempt: 8, error: { code: 'lease_lost' } },
      ]),
    );
    await worker.stop(1_000);
  });
});

describe('a store that does not take the end of a delivery', () => {
  const down = new Error('down');

  it('is asked five times, and the delivery, which is handled again, is reported as failed', async () => {
    const remove = vi.fn(() => Promise.reject(down));
    const onStoreError = vi.fn();
    const { worker, sideBySide, reports } = openWorker(
      { handle: async () => 'handled', remove },
      { onStoreError },
    );
    sideBySide.push(leaseOf('A'));
    await vi.waitFor(() => expect(reports).toMatchObject([{ outcome: 'failed', error: down }]));
    expect(remove).toHaveBeenCalledTimes(5);
    expect(onStoreError.mock.calls).toEqual(Array(5).fill([down]));
    await worker.stop(100);
  });
});

describe('a worker', () => {
  it('removes what it handled or ignored, postpones what failed, and puts back nothing else', async () => {
    const ends: string[] = [];
    const note =
      (end: string) =>
      async ({ delivery }: LeasedDelivery, ...given: unknown[]) =>
        void ends.push([end, delivery.name, ...given].join(' '));
    const { worker, sideBySide, reports } = openWorker(
      {
        async handle({ name }) {
          if (name === 'bad') throw new Error('no');
          return name === 'unwanted' ? 'put-back' : 'handled';
        },
        remove: note('removed'),
        postpone: note('postponed'),
        putBack: note('put back'),
      },
      { random: (size) => new Uint8Array(size) },
    );
    sideBySide.push(leaseOf('good'), { ...leaseOf('unwanted'), receivedAt: 0 }, leaseOf('bad'));
    await vi.waitFor(() => expect(reports).toHaveLength(3));
    expect(ends.toSorted()).toEqual(['postponed bad 1000 Error: no', 'removed good', 'removed unwanted']);
    const outcomes = reports.map(({ name, outcome }) => `${name} ${outcome}`).toSorted();
    expect(outcomes).toEqual(['bad failed', 'good handled', 'unwanted ignored']);
    await worker.stop(100);
  });

  it('starts no more than its limit, and no more at once than its concurrency', async () => {
    const limits: number[] = [];
    const { handle, running, names } = heldHandler();
    const waiting = ['A', 'B', 'C', 'D'].map(leaseOf);
    const { worker } = openWorker(
      {
        handle,
        async lease(limit) {
          limits.push(limit);
          return { leased: waiting.splice(0, limit), pauseMs: 0 };
        },
      },
      { concurrency: 2 },
      { limit: 3, endsWhenIdle: true },
    );
    await vi.waitFor(() => expect(names()).toEqual(['A', 'B']));
    for (const end of running.values()) end();
    await vi.waitFor(() => expect(names()).toEqual(['C']));
    running.get('C')?.();
    await worker.ended();
    expect(limits).toEqual([2, 1]);
    expect(waiting).toHaveLength(1);
  });

  it('leases nothing before the first handler is registered', async () => {
    const pauses: number[] = [];
    const lease = vi.fn(async () => ({ leased: [], pauseMs: 1_000 }));
    const sleep = async (ms: number) => pause(ms, pauses);
    const { worker } = openWorker({ handle: async () => 'handled', lease }, {}, { sleep }, () => false);
    await vi.waitFor(() => expect(pauses.length).toBeGreaterThan(2));
    await worker.stop(100);
    expect(lease).not.toHaveBeenCalled();
  });

  it('waits a second after an error of its store, which onStoreError is told of, and goes on', async () => {
    const down = new Error('down');
    const pauses: number[] = [];
    const onStoreError = vi.fn();
    const lease = vi.fn().mockRejectedValueOnce(down);
    lease.mockResolvedValue({ leased: [], pauseMs: Number.POSITIVE_INFINITY });
    const { worker } = openWorker(
      { handle: async () => 'handled', lease },
      { onStoreError },
      { pollMs: 70, sleep: async (ms) => pause(ms, pauses) },
    );
    await vi.waitFor(() => expect(pauses.length).toBeGreaterThan(1));
    await worker.stop(100);
    expect(pauses.slice(0, 2)).toEqual([1_000, 70]);
    expect(onStoreError.mock.calls).toEqual([[down]]);
  });

  it.each([
    ['until the next delivery is due', 30, 30],
    ['no longer than pollMs', 600_000, 70],
  ])('pauses %s', async (_, pauseMs, expected) => {
    const pauses: number[] = [];
    const { worker } = openWorker(
      { handle: async () => 'handled', lease: async () => ({ leased: [], pauseMs }) },
      {},
      { pollMs: 70, sleep: async (ms) => pause(ms, pauses) },
    );
    await vi.waitFor(() => expect(pauses.length).toBeGreaterThan(1));
    await worker.stop(100);
    expect(new Set(pauses)).toEqual(new Set([expected]));
  });

  it('leases nothing before the leases of ended processes are freed, and frees them once', async () => {
    const calls: string[] = [];
    const freeEnded = vi.fn(async () => void calls.push('freed'));
    freeEnded.mockImplementationOnce(async () => {
      calls.push('not freed');
      throw new Error('down');
    });
    const { worker } = openWorker({
      handle: async () => 'handled',
      freeEnded,
      lease: async () => {
        calls.push('lease');
        return { leased: [], pauseMs: Number.POSITIVE_INFINITY };
      },
    });
    await vi.waitFor(() => expect(calls.length).toBeGreaterThan(4));
    await worker.stop(100);
    expect(calls.slice(0, 4)).toEqual(['not freed', 'freed', 'lease', 'lease']);
    expect(freeEnded).toHaveBeenCalledTimes(2);
  });

  it('that is cut off aborts what runs, gives it back, and neither stores nor reports its end', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const released: string[] = [];
    const postpone = vi.fn(async () => {});
    const { worker, sideBySide, reports } = openWorker({
      handle: (_, options) => {
        signals.push(options?.signal);
        return new Promise(() => {});
      },
      postpone,
      putBack: async ({ delivery }, delayMs) => void released.push(`${delivery.name} after ${delayMs}`),
    });
    sideBySide.push(leaseOf('A'), leaseOf('B'));
    await vi.waitFor(() => expect(signals).toHaveLength(2));
    expect(await worker.stop(10)).toBe('cut-off');
    expect(signals).toMatchObject(Array(2).fill({ aborted: true, reason: { code: 'inbox_stopped' } }));
    expect(released).toEqual(['A after 0', 'B after 0']);
    await worker.ended();
    expect(postpone).not.toHaveBeenCalled();
    expect(reports).toEqual([]);
  });

  it('postpones a marked delivery whose handler failed before its transaction was committed', async () => {
    const postpone = vi.fn(async () => {});
    const { worker, sideBySide, reports } = openWorker({
      async handle(_, options) {
        await options?.mark?.(memoryStore());
        throw new Error('no');
      },
      postpone,
    });
    sideBySide.push(leaseOf('A'));
    await vi.waitFor(() => expect(reports).toMatchObject([{ outcome: 'failed' }]));
    expect(postpone).toHaveBeenCalledTimes(1);
    await worker.stop(100);
  });

  it('counts what runs alone in its limit, too', async () => {
    const limits = { limit: 1, endsWhenIdle: true };
    const { worker, alone, reports } = openWorker({ handle: async () => 'handled' }, {}, limits);
    alone.push(leaseOf('first'), leaseOf('second'));
    await worker.ended();
    expect(reports).toMatchObject([{ name: 'first' }]);
    expect(alone).toHaveLength(1);
  });
});
