import {
  type DrawnService,
  drawService,
  type ServiceDimension,
} from '../../src/sandbox/drawn/draw-service.ts';
import { type EventFaultName, eventFaultNames } from '../../src/sandbox/faults/event-faults.ts';
import { type FaultRates, requestFaultNames } from '../../src/sandbox/faults/faults.ts';
import { type SeededRandom, seededRandom } from '../../src/sandbox/seeded-random.ts';
import { reshapingFaults } from '../sandbox/faults/reshaping-faults.ts';
import type { NetworkFault } from './network.ts';
import type { StoreFault } from './remote-store.ts';
import type { Disturbances } from './simulation.ts';
import type { SqliteFault } from './sqlite-world.ts';

/** What a scenario is made of, before it begins. */
export interface Plan {
  readonly duplicateOrders: 'refused' | 'same' | 'second';
  readonly duplicateIds: 'unknown' | 'refused' | 'same-order';
  /** Whether a refusal means that the service did not act, as the ledger assumes (`errors`). */
  readonly isHonest: boolean;
  /** Of one receiver. */
  readonly partners: 1 | 2;
  readonly keys: 'static' | 'ring' | 'function';
  readonly keyStorage: 'record' | 'file';
  /** Whether the first keys of the rotation lack a name, which later ones have. */
  readonly isNameless: boolean;
  readonly oldKeysExpire: 'request' | 'link';
  readonly inbox: 'sqlite' | 'store' | 'drain' | 'queue';
  /** Whether one process only receives. */
  readonly isSplit: boolean;
  /** The options of a deployment, and those of the next one. */
  readonly versions: readonly [Version, Version];
  readonly processes: number;
  readonly clocks: 'true' | 'skewed' | 'jumping';
  /** How often the service posts an event that was not acknowledged. */
  readonly postings: number;
  /** Whether events are lost for good. */
  readonly losesEvents: boolean;
  readonly requestFaults: FaultRates;
  readonly eventFaults: FaultRates;
  readonly faults: WorldFaults;
  readonly disturbances: Disturbances;
  readonly steps: readonly PlannedStep[];
  /** How the service is in all points that the rest of the plan and the deployment leave open. */
  readonly service: DrawnService;
  /** Whether its replies may leave it open that the order is there. */
  readonly isVague: boolean;
  /** Whether the service sometimes says something else of an order than was ordered. */
  readonly contradicts: boolean;
  /** Whether events can have another form than the documented one: only some of them can be read. */
  readonly isReshaped: boolean;
  /** Events that cannot be read: handled, or set aside as dead letters, with or without the evidence in them. */
  readonly unrecognized: 'handled' | 'observed' | 'kept';
}

/** What differs between two versions of one deployment. */
export interface Version {
  readonly timeLimitMs: number;
  readonly maxAttempts: number;
  readonly concurrency: number;
  readonly rememberMs: number;
  readonly overlapMs: number;
  readonly pollMs: number;
  /** Milliseconds for a request to the service. */
  readonly timeoutMs: number;
}

/** Each step, and how often it comes. */
const stepWeights = {
  ...{ createNew: 5, createAgain: 2, createChanged: 1, prepare: 1, goOn: 6, copyEvent: 3 },
  ...{ issueCode: 3, resendCode: 1, checkCode: 4, rotate: 4, nameKeys: 1, sendCampaign: 1 },
  ...{ killOne: 1, restartOne: 2, stallOne: 1, jumpClock: 1, breakDown: 1, replayDead: 1 },
};

export type StepName = keyof typeof stepWeights;

/** Each name as often as it comes. */
// Sound: the keys of the table, of which there are some.
const stepNames = Object.entries(stepWeights).flatMap(([name, weight]) =>
  Array.from({ length: weight }, () => name),
) as [StepName, ...StepName[]];

export interface PlannedStep {
  readonly number: number;
  /** In milliseconds since the scenario began. */
  readonly at: number;
  readonly name: StepName;
}

/** Probabilities of faults, for each call. */
export type WorldFaults = Readonly<{
  store: Partial<Record<StoreFault, number>>;
  network: Partial<Record<NetworkFault, number>>;
  sqlite: Partial<Record<SqliteFault, number>>;
}>;

/** The plan decides these itself, or a scenario could not go on: its keys would expire, its chain be refused. */
const planned = [
  ...(['duplicateOrders', 'oldKeys', 'callbackRetry', 'callbackReceived', 'lostEvents'] as const),
  ...(['repetition', 'eventOrder', 'otherEvents', 'refusedThoughDone', 'deniedThoughDone'] as const),
  ...(['rateLimit', 'orderTransitions', 'keyLifetime', 'allowedValues', 'whitelist'] as const),
  ...(['numberRefusal', 'verifyCheck'] as const),
] satisfies ServiceDimension[];

/** Without these points every event is as documented. */
const shapes = [
  ...(['members', 'settledStatus', 'initialStatus', 'startedStatus', 'thirdPartyError'] as const),
  ...(['timestamp', 'closeStatus', 'extraMembers', 'eventNames'] as const),
] satisfies ServiceDimension[];

const reshaping: ReadonlySet<EventFaultName> = new Set(reshapingFaults);

/** The faults of a service that contradicts an order. */
export const contradictions: ReadonlySet<EventFaultName> = new Set([
  'credits_elsewhere',
  'other_chain',
  'other_currency',
  'amount_differs',
]);

/** Whether a service or a fault gives an event another form. */
export function deviates({ service }: Plan, faults: readonly EventFaultName[]): boolean {
  return shapes.some((shape) => shape in service.differences) || faults.some((fault) => reshaping.has(fault));
}

/** Leaves out steps or kinds of faults, to find the least that fails. */
export interface Shrunk {
  readonly steps?: readonly number[] | undefined;
  readonly withoutFaults?: readonly string[] | undefined;
}

export function drawPlan(seed: string): Plan {
  const random = seededRandom(seed, 'plan');
  const duplicateOrders = pick(random, ['refused', 'same', 'second'] as const);
  const known = { refused: 'refused', same: 'same-order', second: 'unknown' } as const;
  const isHonest = random.chance(0.7);
  const losesEvents = random.chance(0.2);
  const isReshaped = random.chance(0.3);
  const service = drawService(seed, { asDocumented: isReshaped ? planned : [...planned, ...shapes] });
  const duplicateIds = random.chance(0.6) ? known[duplicateOrders] : 'unknown';
  const inbox = pick(random, ['sqlite', 'store', 'store', 'drain', 'queue'] as const);
  const partners = random.chance(0.25) ? 2 : 1;
  const keys =
    partners === 2
      ? pick(random, ['static', 'function'] as const)
      : pick(random, ['static', 'ring', 'ring', 'function'] as const);
  const clocks = pick(random, ['true', 'true', 'skewed', 'jumping'] as const);
  const version = drawVersion(random);
  const contradicting = drawContradictions(seededRandom(seed, 'contradictions'));
  return {
    duplicateOrders,
    duplicateIds,
    isHonest,
    partners,
    keys,
    keyStorage: inbox === 'sqlite' ? pick(random, ['record', 'file'] as const) : 'record',
    isNameless: keys === 'ring' && random.chance(0.4),
    oldKeysExpire: pick(random, ['request', 'link'] as const),
    inbox,
    isSplit: inbox !== 'drain' && random.chance(0.2),
    versions: [version, random.chance(0.5) ? drawVersion(random) : version],
    processes: 1 + Math.floor(random.fraction() * 3),
    clocks,
    postings: losesEvents && random.chance(0.5) ? 1 : 60,
    losesEvents,
    requestFaults: drawRequestFaults(random, { isHonest, duplicateIds }),
    eventFaults: { ...drawEventFaults(random, { losesEvents, isReshaped }), ...contradicting },
    contradicts: Object.keys(contradicting).length > 0,
    faults: {
      store: drawStoreFaults(random),
      network: drawRates(
        random,
        [0, 0, 0.05, 0.15],
        ['refused', 'reset-before', 'reset-after', 'slow', 'dies-before', 'dies-after'],
      ),
      sqlite: drawRates(random, [0, 0, 0.05], ['busy', 'full']),
    },
    disturbances: {
      stall: pick(random, [0, 0, 0.0005, 0.003]),
      lateTimer: pick(random, [0, 0, 0.05]),
      clockJump: clocks === 'jumping' ? pick(random, [0.0003, 0.002]) : 0,
    },
    steps: drawSteps(random),
    service,
    isVague: ['replies', 'replyStatus', 'errorReplies'].some((point) => point in service.differences),
    isReshaped,
    unrecognized: pick(random, ['handled', 'observed', 'kept'] as const),
  };
}

export function shrinkPlan(plan: Plan, { steps, withoutFaults = [] }: Shrunk): Plan {
  const without = <Rates extends Record<string, unknown>>(rates: Rates, kind: string): Rates =>
    withoutFaults.includes(kind)
      ? ({} as Rates) // Sound: every rate is optional.
      : rates;
  const none = { stall: 0, lateTimer: 0, clockJump: 0 };
  const off = Object.keys(none).filter((name) => withoutFaults.includes(name));
  return {
    ...plan,
    steps: steps === undefined ? plan.steps : plan.steps.filter(({ number }) => steps.includes(number)),
    requestFaults: without(plan.requestFaults, 'request'),
    eventFaults: without(plan.eventFaults, 'event'),
    faults: {
      store: without(plan.faults.store, 'store'),
      network: without(plan.faults.network, 'network'),
      sqlite: without(plan.faults.sqlite, 'sqlite'),
    },
    disturbances: { ...plan.disturbances, ...Object.fromEntries(off.map((name) => [name, 0])) },
  };
}

/** What `shrinkPlan` can leave out. */
export const faultKinds = [
  'request',
  'event',
  'store',
  'network',
  'sqlite',
  'stall',
  'lateTimer',
  'clockJump',
];

function drawVersion(random: SeededRandom): Version {
  return {
    timeLimitMs: pick(random, [6_000, 20_000, 60_000]),
    maxAttempts: pick(random, [4, 6, 9]),
    concurrency: pick(random, [1, 3, 10]),
    rememberMs: pick(random, [86_400_000, 30 * 86_400_000]),
    overlapMs: pick(random, [3_600_000, 7 * 86_400_000]),
    pollMs: pick(random, [4_000, 15_000]),
    timeoutMs: pick(random, [4_000, 30_000]),
  };
}

function drawSteps(random: SeededRandom): PlannedStep[] {
  const count = 12 + Math.floor(random.fraction() * 28);
  const paceMs = pick(random, [500, 4_000, 20_000]);
  let at = 0;
  return Array.from({ length: count }, (_, number) => {
    // Some at once.
    at += random.chance(0.2) ? 0 : Math.ceil(random.fraction() * 2 * paceMs);
    // The first one gives the others something to work on.
    return { number, at, name: number === 0 ? 'createNew' : pick(random, stepNames) };
  });
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
      return [name, { probability, ...time }];
    }),
  );
}

function drawEventFaults(
  random: SeededRandom,
  { losesEvents, isReshaped }: Pick<Plan, 'losesEvents' | 'isReshaped'>,
): FaultRates {
  const most = pick(random, [0, 0.2, 0.5]);
  const rates: Partial<Record<EventFaultName, number>> = {};
  for (const name of eventFaultNames.filter((each) => !contradictions.has(each))) {
    const share = reshaping.has(name) ? Number(isReshaped) * 0.2 : 1;
    rates[name] = random.fraction() * most * share;
  }
  rates.drop = losesEvents ? 0.1 + random.fraction() * 0.4 : 0;
  return rates;
}

function drawContradictions(random: SeededRandom): FaultRates {
  if (!random.chance(0.3)) return {};
  return Object.fromEntries([...contradictions].map((name) => [name, random.fraction() * 0.15]));
}

function drawStoreFaults(random: SeededRandom): WorldFaults['store'] {
  const names: readonly StoreFault[] = [
    'refused',
    'conflict',
    'lost',
    'slow',
    'slow-answer',
    'full',
    'dies-before',
    'dies-after',
  ];
  return { ...drawRates(random, [0, 0, 0.02, 0.08], names), repeated: 0.05 };
}

function drawRates<Name extends string>(
  random: SeededRandom,
  intensities: readonly [number, ...number[]],
  names: readonly Name[],
): Partial<Record<Name, number>> {
  const intensity = pick(random, intensities);
  const drawn = names.filter(() => random.chance(0.5));
  // Deaths are dear: each one excuses much.
  const rate = (name: string) =>
    (intensity / Math.max(1, drawn.length)) * (name.startsWith('dies') ? 0.3 : 1);
  // Sound: the names are those of the list.
  return Object.fromEntries(drawn.map((name) => [name, rate(name)])) as Partial<Record<Name, number>>;
}

export function pick<const Item>(random: SeededRandom, items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(random.fraction() * items.length)] ?? items[0];
}

/** One of a list; `undefined` if there is none. */
export function pickOf<Item>(random: SeededRandom, items: readonly Item[]): Item | undefined {
  return items[Math.floor(random.fraction() * items.length)];
}
