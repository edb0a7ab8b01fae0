import { describe, expect, it, vi } from 'vitest';
import { memoryStore } from '../../src/store/memory-store.ts';
import { heldHandler, leaseOf, openWorker, pause } from './worker-bench.ts';

const handle = async () => 'handled' as const;
// real time: nothing may happen meanwhile; a busy machine lets less happen.
const turns = () => new Promise((resolve) => setTimeout(resolve, 10));

describe('a worker without handlers', () => {
  it('leases nothing, and takes nothing when it is woken, until there is one', async () => {
    let hasHandlers = false;
    const { worker, sideBySide, alone, reports } = openWorker({ handle }, {}, {}, () => hasHandlers);
    sideBySide.push(leaseOf('A'));
    alone.push(leaseOf('suspect'));
    await turns();
    worker.wake();
    await turns();
    expect([sideBySide, alone].map(({ length }) => length)).toEqual([1, 1]);
    hasHandlers = true;
    await vi.waitFor(() => expect(reports.map(({ name }) => name)).toEqual(['A', 'suspect']));
    await worker.stop(1_000);
  });
});

describe('the limit of a worker', () => {
  it('is what is left of it, where it could run more at once', async () => {
    const limits: number[] = [];
    const waiting = [['A', 'B'], ['C'], ['D']].map((names) => names.map(leaseOf));
    const { worker, reports } = openWorker(
      {
        handle,
        async lease(limit) {
          limits.push(limit);
          return { leased: waiting.shift() ?? [], pauseMs: 0 };
        },
      },
      { concurrency: 10 },
      { limit: 3, endsWhenIdle: true },
    );
    await worker.ended();
    expect(limits).toEqual([3, 1]);
    expect(reports).toHaveLength(3);
  });

  it('counts what runs alone, too', async () => {
    const { worker, alone, reports } = openWorker({ handle }, {}, { limit: 1, endsWhenIdle: true });
    alone.push(leaseOf('first'), leaseOf('second'));
    await worker.ended();
    expect(reports).toMatchObject([{ name: 'first' }]);
    expect(alone).toHaveLength(1);
  });

  it('keeps from being started alone what is due after the last one', async () => {
    const { worker, sideBySide, alone, reports } = openWorker(
      { handle },
      {},
      { limit: 1, endsWhenIdle: true },
    );
    sideBySide.push(leaseOf('A'));
    alone.push(leaseOf('suspect'));
    await worker.ended();
    expect(reports).toMatchObject([{ name: 'A' }]);
    expect(alone).toHaveLength(1);
  });

  it('is not used up by dead letters', async () => {
    let isDue = true;
    const { worker, sideBySide, reports } = openWorker(
      {
        handle,
        isAloneDue: async () => isDue,
        async leaseAlone() {
          isDue = false;
          sideBySide.push(leaseOf('A'));
          return { leased: undefined, dead: [leaseOf('poison')] };
        },
      },
      {},
      { limit: 1, endsWhenIdle: true },
    );
    await worker.ended();
    expect(reports).toMatchObject([
      { name: 'poison', outcome: 'dead' },
      { name: 'A', outcome: 'handled' },
    ]);
  });
});

describe('a worker', () => {
  it('goes on as before when another one has taken the delivery that was due alone', async () => {
    let isDue = true;
    const { handle: hold, running, names } = heldHandler();
    const { worker, sideBySide } = openWorker({
      handle: hold,
      isAloneDue: async () => isDue,
      async leaseAlone() {
        isDue = false;
        return { leased: undefined, dead: [] };
      },
    });
    await vi.waitFor(() => expect(isDue).toBe(false));
    sideBySide.push(leaseOf('A'));
    await vi.waitFor(() => expect(names()).toEqual(['A']));
    running.get('A')?.();
    await worker.stop(1_000);
  });

  it('that finds nothing due looks no second time before its pause', async () => {
    const calls: (string | number)[] = [];
    const { worker } = openWorker(
      {
        handle,
        async lease() {
          calls.push('lease');
          return { leased: [], pauseMs: 30 };
        },
      },
      {},
      { pollMs: 70, sleep: (ms) => pause(ms, [calls.push(ms)]) },
    );
    await vi.waitFor(() => expect(calls.length).toBeGreaterThan(2));
    await worker.stop(100);
    expect(calls.slice(0, 3)).toEqual(['lease', 30, 'lease']);
  });

  it('does not pause while more may be due', async () => {
    const calls: (string | number)[] = [];
    const pauses = [0, 0];
    const { worker } = openWorker(
      {
        handle,
        async lease() {
          calls.push('lease');
          return { leased: [], pauseMs: pauses.shift() ?? 30 };
        },
      },
      {},
      { pollMs: 70, sleep: (ms) => pause(ms, [calls.push(ms)]) },
    );
    await vi.waitFor(() => expect(calls.length).toBeGreaterThan(3));
    await worker.stop(100);
    expect(calls.slice(0, 4)).toEqual(['lease', 'lease', 'lease', 30]);
  });

  it('postpones a marked delivery whose handler failed before its transaction was committed', async () => {
    const error = new Error('no');
    const postpone = vi.fn(async () => {});
    const { worker, sideBySide, reports } = openWorker({
      async handle(_, options) {
        await options?.mark?.(memoryStore());
        throw error;
      },
      postpone,
      isHandled: async () => false,
    });
    sideBySide.push(leaseOf('A'));
    await vi.waitFor(() => expect(reports).toMatchObject([{ outcome: 'failed', error }]));
    expect(postpone).toHaveBeenCalledTimes(1);
    await worker.stop(100);
  });
});
