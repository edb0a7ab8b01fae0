import {
  type DrawnService,
  drawService,
  type ServiceDimension,
} from '../../src/sandbox/drawn/draw-service.ts';
import { type EventFaultName, eventFaultNames } from '../../src/sandbox/faults/event-faults.ts';
import { type FaultRates, requestFaultNames } from '../../src/sandbox/faults/faults.ts';
import type { SeededRandom } from '../../src/sandbox/seeded-random.ts';
import { reshapingFaults } from '../sandbox/faults/reshaping-faults.ts';

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
  /** How the service is in all points that the rest of the plan and the deployment leave open. */
  readonly service: DrawnService;
  /** Whether its replies may leave it open that the order is there. */
  readonly isVague: boolean;
  /** Whether events can have another form than the documented one: only some of them can be read. */
  readonly isReshaped: boolean;
  /** Events that cannot be read: handled, or set aside as dead letters, with or without the evidence in them. */
  readonly unrecognized: 'handled' | 'observed' | 'kept';
}

/** The plan decides these itself, or a scenario could not go on: its keys would expire, its chain be refused. */
const planned = [
  ...([
    'duplicateOrders',
    'oldKeys',
    'callbackRetry',
    'callbackReceived',
    'lostEvents',
    'repetition',
  ] as const),
  ...(['eventOrder', 'otherEvents', 'refusedThoughDone', 'deniedThoughDone', 'rateLimit'] as const),
  ...([
    'orderTransitions',
    'keyLifetime',
    'allowedValues',
    'whitelist',
    'numberRefusal',
    'verifyCheck',
  ] as const),
] satisfies ServiceDimension[];

/** Without these points every event is as documented. */
const shapes = [
  ...([
    'members',
    'settledStatus',
    'initialStatus',
    'startedStatus',
    'thirdPartyError',
    'timestamp',
  ] as const),
  ...(['closeStatus', 'extraMembers', 'eventNames'] as const),
] satisfies ServiceDimension[];

const reshaping: ReadonlySet<EventFaultName> = new Set(reshapingFaults);

/** Whether a service or a fault gives an event another form. */
export function deviates({ service }: Plan, faults: readonly EventFaultName[]): boolean {
  return shapes.some((shape) => shape in service.differences) || faults.some((fault) => reshaping.has(fault));
}

export function drawPlan(random: SeededRandom, seed: string): Plan {
  const duplicateOrders = pick(random, ['refused', 'same', 'second'] as const);
  const known = { refused: 'refused', same: 'same-order', second: 'unknown' } as const;
  const isHonest = random.chance(0.7);
  const losesEvents = random.chance(0.3);
  const isReshaped = random.chance(0.4);
  const service = drawService(seed, { asDocumented: isReshaped ? planned : [...planned, ...shapes] });
  const duplicateIds = random.chance(0.6) ? known[duplicateOrders] : 'unknown';
  return {
    duplicateOrders,
    duplicateIds,
    isHonest,
    keys: pick(random, ['static', 'rotated']),
    oldKeysExpire: pick(random, ['request', 'link']),
    postings: losesEvents && random.chance(0.5) ? 1 : 50,
    losesEvents,
    processes: random.chance(0.5) ? 2 : 1,
    store: pick(random, ['memory', 'sqlite']),
    requestFaults: drawRequestFaults(random, { isHonest, duplicateIds }),
    eventFaults: drawEventFaults(random, { losesEvents, isReshaped }),
    steps: 20 + Math.floor(random.fraction() * 40),
    service,
    isVague: ['replies', 'replyStatus', 'errorReplies'].some((point) => point in service.differences),
    isReshaped,
    unrecognized: pick(random, ['handled', 'observed', 'kept']),
  };
}

/** What the client takes for a refusal. After the effect it deceives every client. */
const refusing: ReadonlySet<string> = new Set(['too_many_requests', 'redirect', 'misdirected', 'conflict']);

function drawRequestFaults(
  random: SeededRandom,
  { isHonest, duplicateIds }: Pick<Plan, 'isHonest' | 'duplicateIds'>,
): FaultRates {
  const intensity = pick(random, [0, 0.15, 0.3, 0.6]);
  // Where a 409 means that the order is there, an honest service does not say so of another one.
  const meansDuplicate = isHonest && duplicateIds === 'refused';
  const names = requestFaultNames.filter(
    (name) => random.chance(0.5) && !(meansDuplicate && name === 'conflict'),
  );
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

function drawEventFaults(
  random: SeededRandom,
  { losesEvents, isReshaped }: Pick<Plan, 'losesEvents' | 'isReshaped'>,
): FaultRates {
  const most = pick(random, [0, 0.2, 0.5]);
  const rates: Partial<Record<EventFaultName, number>> = {};
  for (const name of eventFaultNames) {
    const share = reshaping.has(name) ? Number(isReshaped) * 0.2 : 1;
    rates[name] = random.fraction() * most * share;
  }
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
