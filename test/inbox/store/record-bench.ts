import { expect } from 'vitest';
import type { HandlingOptions } from '../../../src/inbox/handling-options.ts';
import type { RecordLease } from '../../../src/inbox/store/delivery-leases.ts';
import { deliveryRecords } from '../../../src/inbox/store/delivery-records.ts';
import { deliveryStatus } from '../../../src/inbox/store/delivery-status.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import type { ProcessView } from '../../../src/store/process-identity.ts';
import type { RecordStore } from '../../../src/store/record-store.ts';
import { readHandling } from '../receiver.ts';

export const leaseMs = 65_000;
export const failure = 'Error: no';
export const [a, b] = ['a'.repeat(64), 'b'.repeat(64)];
export const deliveryOf = (digest: string) => ({
  digest,
  name: 'event.buy.init',
  key: { index: 0 },
  body: `{"of":"${digest}"}`,
});

/** Workers on one store and one clock, which only the test moves. */
export function recordBench(options: HandlingOptions = {}, prefix = 'inbox/') {
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const store = memoryStore({ now });
  /** Killed processes. */
  const ended = new Set<number>();
  const viewOf = (pid: number, startedAt?: string): ProcessView => ({
    self: () => (pid === 0 ? undefined : { space: 'machine', pid, startedAt }),
    hasEnded: (other) => ended.has(other.pid),
  });
  const settings = { ...readHandling({ now, ...options }), prefix };
  /** The worker of a process; 0 cannot tell which one it is. */
  const open = (pid = 0, of: RecordStore = store, startedAt?: string) =>
    deliveryRecords({ ...settings, store: of, shared: of, processes: viewOf(pid, startedAt) });
  const deliveries = deliveryStatus({ ...settings, store });
  const records = open();

  /** Waits for `act` before its transaction of this number, as if another process had been faster. */
  function interrupted(number: number, act: () => Promise<unknown>): RecordStore {
    let left = number;
    return {
      ...store,
      async transact(...call) {
        if (--left === 0) await act();
        return store.transact(...call);
      },
    };
  }
  async function lease(of = records): Promise<RecordLease> {
    const { leased } = await of.lease(1);
    return leased[0] ?? expect.unreachable();
  }
  /** After a lease that nobody ended. */
  async function takeOver(of = records): Promise<RecordLease> {
    clock.now += leaseMs;
    return (await of.leaseAlone()).leased ?? expect.unreachable();
  }
  async function makeDead(digest: string): Promise<void> {
    await records.insert(deliveryOf(digest));
    await records.moveToDeadLetters(await lease(), failure);
  }
  const status = async (digest = a) => (await deliveries.find(digest, 1))[0];
  const keys = async () => (await store.list({ prefix: '', limit: 100 })).map(({ key }) => key);
  return {
    clock,
    store,
    settings,
    ended,
    open,
    deliveries,
    records,
    interrupted,
    lease,
    takeOver,
    makeDead,
    status,
    keys,
  };
}
