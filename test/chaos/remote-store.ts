import { StoreError } from '../../src/errors/errors.ts';
import { maybeWritten, nothingWritten, storeConflict } from '../../src/store/limited-calls.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { RecordSet, RecordStore } from '../../src/store/record-store.ts';
import type { Machine } from './machine.ts';
import { pick } from './plan.ts';
import type { World } from './world.ts';

/** A store that outlives processes: rules and expiry by the clock of whoever asks, as PostgreSQL and Redis have it. */
export class StoreServer {
  readonly records = memoryStore({ now: Date.now });
  /** Nobody reaches it. */
  isDown = false;
  isFull = false;
}

/** As `storeTimeoutMs` of the stores for Redis and PostgreSQL. */
const timeoutMs = 5_000;

/** The store, as one process reaches it over a network. */
export function remoteStore(world: World, machine: Machine, server: StoreServer): RecordStore {
  const { simulation } = world;
  const random = simulation.stream(`store ${machine.name}`);
  /** Changes of one key from one process are made in the order of the calls. */
  const lastArrival = new Map<string, number>();

  function call<Result>(
    what: string,
    keys: readonly string[],
    { act, isChange }: { act: (isRepeated: boolean) => Promise<Result>; isChange: boolean },
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (!machine.isAlive) return;
      const fault = server.isDown ? 'refused' : world.drawFault('store', machine, keys);
      world.books.asks(machine, keys);
      const isFull = isChange && (server.isFull || fault === 'full');
      simulation.log(`${what} ${shown(keys)}${fault === undefined ? '' : ` [${fault}]`}`);
      const [there, back] = [random.fraction() * 4, random.fraction() * 4];
      const secondsMs = random.fraction() * 2 * timeoutMs;
      const sleepMs = Math.ceil(pick(random, [5_000, 30_000, 150_000]) * random.fraction());
      const answer = (ms: number, run: () => void) => simulation.after(ms, machine, run);
      if (fault === 'refused')
        return answer(there + back, () => reject(nothingWritten(new Error('refused'))));
      if (fault === 'conflict') return answer(there + back, () => reject(storeConflict()));
      if (isFull)
        return answer(there + back, () =>
          reject(new StoreError('disk_full', 'The disk is full; nothing was written.')),
        );
      const isLost = fault === 'lost' || (fault === 'slow' && secondsMs > timeoutMs);
      const arrivesIn = fault === 'slow' ? Math.min(secondsMs, timeoutMs - 1) : there;
      const at = Math.max(
        simulation.timeOf(machine) + arrivesIn,
        ...keys.map((key) => lastArrival.get(key) ?? 0),
      );
      for (const key of keys) lastArrival.set(key, at);
      // A process that dies has sent it, or not.
      const isSent = fault !== 'dies-before' || random.chance(0.5);
      if (fault === 'dies-before') void world.die(machine, `at ${what}`);
      if (!isSent) return;
      const arrive = () => {
        // Its process runs the change: one that sleeps makes it when it wakes, and others change the records before.
        if (isChange && machine.isAlive && machine.busyUntil > simulation.time)
          return void simulation.after(machine.busyUntil - simulation.time, undefined, arrive);
        const done = simulation.within(machine, () => simulation.atomically(() => act(fault === 'repeated')));
        // Where the answer is lost nobody hears of a failure either.
        done.catch(() => {});
        if (fault === 'dies-after') void world.die(machine, `after ${what}`);
        if (fault === 'sleeps') simulation.stall(machine, sleepMs);
        else if (machine.sleepsFor > 0 && isLease(keys)) fallAsleep();
        const backMs = fault === 'slow-answer' ? secondsMs : back;
        if (isLost || backMs > timeoutMs)
          return answer(timeoutMs, () => reject(maybeWritten(new Error('no answer'))));
        done.then(
          (result) => answer(backMs, () => resolve(result)),
          (error: unknown) => answer(backMs, () => reject(error)),
        );
      };
      simulation.after(at - simulation.timeOf(machine), undefined, arrive);
    });
  }

  function fallAsleep(): void {
    world.count('a process slept when it had taken a lease');
    simulation.stall(machine, machine.sleepsFor);
    machine.sleepsFor = 0;
  }

  return {
    transact: (keys, change) =>
      call('transact', keys, {
        act: (isRepeated) => {
          if (isRepeated) runInVain(server, keys, change);
          return server.records.transact(keys, change);
        },
        isChange: true,
      }),
    list: (options) =>
      call('list', [options.prefix], {
        act: () => server.records.list(options),
        isChange: false,
      }),
    close: async () => {},
  };
}

/** As after a conflict: what the change has done to its records is gone. */
function runInVain(
  server: StoreServer,
  keys: readonly string[],
  change: (records: RecordSet) => unknown,
): void {
  const given = server.records.transact(keys, (records) => {
    change(records);
    throw new Error('in vain');
  });
  given.catch(() => {});
}

/** Whether a change takes a delivery: of an inbox that is due, or of a message in the queue. */
function isLease([key = '']: readonly string[]): boolean {
  return /^(inbox\/(due|alone)\/\d+|queue)\/[0-9a-f]{64}$/.test(key);
}

function shown(keys: readonly string[]): string {
  const [first = ''] = keys;
  return keys.length === 1 ? first : `${first} +${keys.length - 1}`;
}
