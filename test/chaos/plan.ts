import { type EventFaultName, eventFaultNames } from '../../src/devtools/sandbox/settings/event-faults.ts';
import { requestFaultNames } from '../../src/devtools/sandbox/settings/faults.ts';
import { type SeededRandom, seededRandom } from '../../src/devtools/sandbox/settings/seeded-random.ts';
import { reshapingFaults } from '../devtools/sandbox/service/reshaping-faults.ts';
import { drawService, type ServiceDimension } from '../drawn/draw-service.ts';
import type { FaultRates } from '../support/fault-rates.ts';
import {
  type NetworkFault,
  networkFaults,
  type SqliteFault,
  type StoreFault,
  sqliteFaults,
  storeFaults,
} from './faults.ts';

/** What a scenario is made of, before it begins. */
export type Plan = ReturnType<typeof drawPlan>;

/**
 * Milliseconds that an order is claimed for: longer than any request, by every clock, and short,
 * so that a scenario soon comes to rest.
 */
export function claimMs({ clocks }: Pick<Plan, 'clocks'>): number {
  return clocks === 'skewed' ? 110_000 : 45_000;
}

/** What differs between two versions of one deployment. */
export type Version = ReturnType<typeof drawVersion>;

/** Each step, and how often it comes. */
const stepWeights = {
  ...{ createNew: 5, createAgain: 2, createChanged: 2, prepare: 1, goOn: 6, copyEvent: 3 },
  ...{ createMisdirected: 1, decide: 2 },
  ...{ issueCode: 3, resendCode: 1, checkCode: 4, rotate: 4, nameKeys: 1 },
  ...{ killOne: 1, restartOne: 2, stallOne: 1, sleepOne: 1, jumpClock: 1, breakDown: 1, replayDead: 1 },
};

export type StepName = keyof typeof stepWeights;

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
  ...(['duplicateOrders', 'oldKeys', 'callbackRetry', 'lostEvents'] as const),
  ...(['repetition', 'eventOrder', 'otherEvents', 'refusedThoughDone', 'deniedThoughDone'] as const),
  ...(['rateLimit', 'orderTransitions', 'whitelist'] as const),
  ...(['numberRefusal'] as const),
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

export function drawPlan(seed: string) {
  const draw = dimensionsOf(seed);
  const duplicateOrders = draw.one('duplicate orders', { refused: 1, same: 1, second: 1 });
  const known = { refused: 'refused', same: 'same-order', second: 'unknown' } as const;
  /** A refusal means that the service did not act, as the ledger assumes (`errors`). */
  const isHonest = draw.chance('honest', 0.7);
  /** Events are lost for good. */
  const losesEvents = draw.chance('lost events', 0.2);
  /** Events can have another form than the documented one: only some of them can be read. */
  const isReshaped = draw.chance('reshaped', 0.3);
  const service = drawService(seed, { asDocumented: isReshaped ? planned : [...planned, ...shapes] });
  const duplicateIds = draw.chance('duplicate ids are known', 0.6)
    ? known[duplicateOrders]
    : ('unknown' as const);
  const inbox = draw.one('inbox', { sqlite: 1, store: 2, drain: 1, queue: 1.5, memory: 0.5 });
  /** Partners of one receiver. */
  const partners = draw.chance('two partners', 0.25) ? 2 : 1;
  const keys =
    partners === 2
      ? draw.one('keys of two', { static: 1, function: 1 })
      : draw.one('keys', { static: 1, ring: 2, function: 1 });
  const clocks = draw.one('clocks', { true: 2, skewed: 1, jumping: 1 });
  const isFormer = inbox !== 'memory' && draw.chance('a handler is new', 0.3);
  const hasNewerForm = (inbox === 'store' || inbox === 'drain') && draw.chance('a form is new', 0.4);
  const version = drawVersion(draw, 'version 1', { isFormer: false, hasNewerForm: false });
  return {
    duplicateOrders,
    duplicateIds,
    isHonest,
    partners,
    keys,
    /** The first keys of the rotation lack a name, which later ones have. */
    isNameless: keys === 'ring' && draw.chance('nameless', 0.4),
    oldKeysExpire: draw.one('old keys', { request: 1, link: 1 }),
    /** Received keys are promoted in the end: they verify either way. */
    promotes: draw.chance('promotes', 0.7),
    inbox,
    /** Handlers write the end of their event in their own transaction (`handledIn`), or not. */
    effects: inbox === 'sqlite' ? draw.one('effects', { guarded: 1, marked: 1 }) : ('guarded' as const),
    /** Who sends orders: their callers alone, or the loop of `start` too. */
    ordering: draw.one('ordering', { callers: 2, loop: 1 }),
    /** One process only receives. */
    isSplit: inbox !== 'drain' && inbox !== 'memory' && draw.chance('split', 0.2),
    /** The options of a deployment, and those of the next one. */
    versions: [
      version,
      draw.chance('two versions', 0.6) ? drawVersion(draw, 'version 2', { isFormer, hasNewerForm }) : version,
    ] as const,
    // Memory is that of one process.
    processes: inbox === 'memory' ? 1 : draw.number('processes', [1, 2, 3]),
    /** The scenario begins in the middle of a deployment: both versions run. */
    isMixed: draw.chance('mixed', 0.5),
    clocks,
    /** How often the service posts an event that was not acknowledged. */
    postings: losesEvents && draw.chance('posted once', 0.5) ? 1 : inbox === 'memory' ? 15 : 60,
    losesEvents,
    requestFaults: drawRequestFaults(draw, { isHonest, duplicateIds }),
    eventFaults: { ...drawEventFaults(draw, { losesEvents, isReshaped }), ...drawContradictions(draw) },
    faults: {
      store: {
        ...drawRates(draw, 'store', { intensities: [0, 0, 0.02, 0.08], table: storeFaults }),
        repeated: 0.05,
      },
      network: drawRates(draw, 'network', { intensities: [0, 0, 0.05, 0.15], table: networkFaults }),
      sqlite: drawRates(draw, 'sqlite', { intensities: [0, 0, 0.02, 0.06], table: sqliteFaults }),
    },
    disturbances: {
      stall: draw.number('stalls', [0, 0, 0.0005, 0.003]),
      lateTimer: draw.number('late timers', [0, 0, 0.05]),
      clockJump: clocks === 'jumping' ? draw.number('clock jumps', [0.0003, 0.002]) : 0,
    },
    steps: drawSteps(draw),
    /** How the service is in all points that the rest of the plan and the deployment leave open. */
    service,
    isReshaped,
    /** Events that cannot be read: handled, or set aside as dead letters, with or without the evidence in them. */
    unrecognized: draw.one('unrecognized', { handled: 1, observed: 1, kept: 1 }),
  };
}

/**
 * Each dimension has a stream of its own, and each value in it too: a seed that failed once still means the same when
 * another dimension or another value is added.
 */
function dimensionsOf(seed: string) {
  const stream = (dimension: string) => seededRandom(seed, `plan ${dimension}`);
  return {
    stream,
    chance: (dimension: string, probability: number) => stream(dimension).chance(probability),
    number: (dimension: string, values: readonly [number, ...number[]]) => pick(stream(dimension), values),
    /** The value whose exponential clock, with its weight as its rate, rings first. */
    one<Name extends string>(dimension: string, weights: Readonly<Record<Name, number>>): Name {
      // Sound: the names are the keys of the table, of which there are some.
      const names = Object.keys(weights) as [Name, ...Name[]];
      const rings = (name: Name) => -Math.log(1 - stream(`${dimension}: ${name}`).fraction()) / weights[name];
      return names
        .map((name) => ({ name, at: rings(name) }))
        .reduce((first, next) => (next.at < first.at ? next : first)).name;
    },
  };
}

type Dimensions = ReturnType<typeof dimensionsOf>;

function drawVersion(
  { number, chance }: Dimensions,
  version: string,
  { isFormer, hasNewerForm }: { readonly isFormer: boolean; readonly hasNewerForm: boolean },
) {
  const of = (option: string, values: readonly [number, ...number[]]) =>
    number(`${version} ${option}`, values);
  return {
    /** Lacks a handler that the other one has. */
    isFormer,
    /** Writes deliveries in a form that the other one cannot read. */
    hasNewerForm,
    // A lease that ends before a slow store has answered.
    timeLimitMs: chance(`${version} hurries`, 0.2) ? 1_000 : of('timeLimitMs', [6_000, 20_000, 60_000]),
    maxAttempts: of('maxAttempts', [4, 6, 9]),
    concurrency: of('concurrency', [1, 3, 10]),
    rememberMs: of('rememberMs', [86_400_000, 30 * 86_400_000]),
    overlapMs: of('overlapMs', [3_600_000, 7 * 86_400_000]),
    cooldownMs: of('cooldownMs', [1_000, 5_000, 20_000]),
    pollMs: of('pollMs', [4_000, 15_000]),
    storeTimeoutMs: of('storeTimeoutMs', [5_000, 60_000]),
    timeoutMs: of('timeoutMs', [4_000, 30_000]),
  };
}

function drawSteps(draw: Dimensions): PlannedStep[] {
  const count = 12 + Math.floor(draw.stream('steps').fraction() * 28);
  const paceMs = draw.number('pace', [500, 4_000, 20_000]);
  let at = 0;
  return Array.from({ length: count }, (_, number) => {
    const random = draw.stream(`step ${number} waits`);
    // Some at once.
    at += random.chance(0.2) ? 0 : Math.ceil(random.fraction() * 2 * paceMs);
    // The first one gives the others something to work on.
    return { number, at, name: number === 0 ? 'createNew' : draw.one(`step ${number}`, stepWeights) };
  });
}

/** What the client takes for a refusal. After the effect it deceives every client. */
const refusing: ReadonlySet<string> = new Set(['too_many_requests', 'redirect', 'misdirected', 'conflict']);

function drawRequestFaults(
  draw: Dimensions,
  { isHonest, duplicateIds }: { readonly isHonest: boolean; readonly duplicateIds: string },
): FaultRates {
  const intensity = draw.number('request faults', [0, 0.15, 0.3, 0.6]);
  // Whoever sets `duplicateIds` has seen that a 409 means that the order is there.
  const meansDuplicate = duplicateIds === 'refused';
  const names = requestFaultNames.filter(
    (name) => draw.chance(`request fault ${name}`, 0.5) && !(meansDuplicate && name === 'conflict'),
  );
  return Object.fromEntries(
    names.map((name) => {
      const rate = intensity / names.length;
      const time = refusing.has(name) && !isHonest ? { when: 'either' as const } : {};
      return [name, { rate, ...time }];
    }),
  );
}

/** An honest service that denies a text with a 2xx has not sent it. */
export function messageFaults({ isHonest, requestFaults }: Plan): FaultRates {
  const { ok_with_error: denial } = requestFaults;
  if (!isHonest || typeof denial !== 'object') return requestFaults;
  return { ...requestFaults, ok_with_error: { ...denial, when: 'before' } };
}

/** The service posts these again and again, since nobody acknowledges them. */
const shares: Partial<Record<EventFaultName, number>> = { forged: 0.2, tampered: 0.2 };

function drawEventFaults(
  draw: Dimensions,
  { losesEvents, isReshaped }: { readonly losesEvents: boolean; readonly isReshaped: boolean },
): FaultRates {
  const most = draw.number('event faults', [0, 0.2, 0.5]);
  const fraction = (name: EventFaultName) => draw.stream(`event fault ${name}`).fraction();
  const rates: Partial<Record<EventFaultName, number>> = {};
  for (const name of eventFaultNames.filter((each) => !contradictions.has(each))) {
    const share = reshaping.has(name) ? Number(isReshaped) * 0.2 : (shares[name] ?? 1);
    rates[name] = fraction(name) * most * share;
  }
  rates.drop = losesEvents ? 0.1 + fraction('drop') * 0.4 : 0;
  return rates;
}

function drawContradictions(draw: Dimensions): FaultRates {
  if (!draw.chance('contradictions', 0.3)) return {};
  return Object.fromEntries(
    [...contradictions].map((name) => [name, draw.stream(`event fault ${name}`).fraction() * 0.15]),
  );
}

/** About half of the faults of a table, with rates whose sum is about the intensity. */
function drawRates<Name extends string>(
  draw: Dimensions,
  kind: string,
  {
    intensities,
    table,
  }: { intensities: readonly [number, ...number[]]; table: Readonly<Record<Name, string>> },
): Partial<Record<Name, number>> {
  const names = Object.keys(table);
  const each = draw.number(`${kind} faults`, intensities) / (names.length / 2);
  // Deaths are dear: each one excuses much.
  const rate = (name: string) => each * (name.startsWith('dies') ? 0.3 : 1);
  const drawn = names.filter((name) => draw.chance(`${kind} fault ${name}`, 0.5));
  // Sound: the names are those of the table.
  return Object.fromEntries(drawn.map((name) => [name, rate(name)])) as Partial<Record<Name, number>>;
}

export function pick<const Item>(random: SeededRandom, items: readonly [Item, ...Item[]]): Item {
  return random.pick(items) ?? items[0];
}
