import {
  type EventFaultName,
  eventFaultNames,
  type FaultRates,
  requestFaultNames,
} from '../../src/sandbox/faults/faults.ts';
import type { SeededRandom } from '../../src/sandbox/seeded-random.ts';

/** What a scenario is made of, before it begins. */
export interface Plan {
  readonly duplicateOrders: 'refused' | 'same' | 'second';
  readonly duplicateIds: 'unknown' | 'refused' | 'same-order';
  /** Whether a refusal means that the service did not act, as the ledger assumes (`errors`). */
  readonly isHonest: boolean;
  readonly keys: 'static' | 'rotated';
  readonly oldKeysExpire: 'request' | 'link';
  /** How often the service posts an event that was not acknowledged. */
  readonly postings: number;
  /** Whether events are lost for good. */
  readonly losesEvents: boolean;
  /** Processes of the partner, each with a journal, a receiver and codes. */
  readonly processes: number;
  readonly store: 'memory' | 'sqlite';
  readonly requestFaults: FaultRates;
  readonly eventFaults: FaultRates;
  readonly steps: number;
}

export function drawPlan(random: SeededRandom): Plan {
  const duplicateOrders = pick(random, ['refused', 'same', 'second'] as const);
  const known = { refused: 'refused', same: 'same-order', second: 'unknown' } as const;
  const isHonest = random.chance(0.7);
  const losesEvents = random.chance(0.3);
  return {
    duplicateOrders,
    duplicateIds: random.chance(0.6) ? known[duplicateOrders] : 'unknown',
    isHonest,
    keys: pick(random, ['static', 'rotated']),
    oldKeysExpire: pick(random, ['request', 'link']),
    postings: losesEvents && random.chance(0.5) ? 1 : 50,
    losesEvents,
    processes: random.chance(0.5) ? 2 : 1,
    store: pick(random, ['memory', 'sqlite']),
    requestFaults: drawRequestFaults(random, isHonest),
    eventFaults: drawEventFaults(random, losesEvents),
    steps: 20 + Math.floor(random.fraction() * 40),
  };
}

/** What the client takes for a refusal. After the effect it deceives every client. */
const refusing: ReadonlySet<string> = new Set(['too_many_requests', 'redirect', 'misdirected']);

function drawRequestFaults(random: SeededRandom, isHonest: boolean): FaultRates {
  const intensity = pick(random, [0, 0.15, 0.3, 0.6]);
  const names = requestFaultNames.filter(() => random.chance(0.5));
  return Object.fromEntries(
    names.map((name) => {
      const probability = intensity / names.length;
      const time = isHonest && refusing.has(name) ? { when: 'before' as const } : {};
      // The client waits in real time: it is asked to wait for none.
      const wait = name === 'too_many_requests' ? { retryAfterSeconds: 0 } : {};
      return [name, { probability, ...time, ...wait }];
    }),
  );
}

function drawEventFaults(random: SeededRandom, losesEvents: boolean): FaultRates {
  const most = pick(random, [0, 0.2, 0.5]);
  const rates: Partial<Record<EventFaultName, number>> = {};
  for (const name of eventFaultNames) rates[name] = random.fraction() * most;
  rates.drop = losesEvents ? 0.1 + random.fraction() * 0.4 : 0;
  return rates;
}

export function pick<const Item>(random: SeededRandom, items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(random.fraction() * items.length)] ?? items[0];
}

/** One of a list; `undefined` if there is none. */
export function pickOf<Item>(random: SeededRandom, items: readonly Item[]): Item | undefined {
  return items[Math.floor(random.fraction() * items.length)];
}
