import type { OrderEventName } from '../../events/order-event.ts';
import { checkOneOf, invalidOption } from '../../internal/options.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { type CheckedFault, checkFault, targetSide } from './check-fault.ts';
import {
  type EventFault,
  type EventFaultName,
  type EventFaultRates,
  type EventFaultTarget,
  eventFaults,
  type Fault,
  type FaultRate,
  type FaultRates,
  type FaultScenario,
  type FaultTarget,
  faultScenarios,
  type RequestFault,
  type RequestFaultName,
  type RequestFaultRates,
  type RequestFaultTarget,
  requestFaults,
  type SandboxOperation,
  type TimedRequestFault,
} from './faults.ts';

/** Controls which faults happen, and how often. */
export interface SandboxFaults {
  /**
   * Plans a fault for the next request of an operation (`request`: of any), or the next event of a name (`event`: of
   * any). Several calls queue up, one fault for each request or event.
   *
   * @throws {ConfigurationError} `invalid_option` for an unknown target or fault, or a fault of the other side
   * @example
   * ```ts
   * sandbox.faults.next('createOrder', 'reply_lost');
   * sandbox.faults.next('createOrder', { kind: 'reset', when: 'after' });
   * sandbox.faults.next('event.buy.credited.crypto', 'concurrent_duplicate');
   * ```
   */
  readonly next: {
    (target: RequestFaultTarget, fault: RequestFaultName | RequestFault): void;
    (target: EventFaultTarget, fault: EventFaultName | EventFault): void;
  };
  /**
   * Sets how often faults happen, in place of earlier rates: everywhere, or at one target. The rates of an operation
   * or an event name override the general ones. A request has at most one fault; an event can have several.
   *
   * @throws {ConfigurationError} `invalid_option`
   * @example
   * ```ts
   * sandbox.faults.rate({ reset: 0.1, duplicate: 0.2 });
   * sandbox.faults.rate('createOrder', { server_error: { probability: 0.5, status: 503, when: 'after' } });
   * ```
   */
  readonly rate: {
    (rates: FaultRates): void;
    (target: RequestFaultTarget, rates: RequestFaultRates): void;
    (target: EventFaultTarget, rates: EventFaultRates): void;
  };
  /**
   * Sets the rates of a named scenario, in place of all earlier rates. @throws {ConfigurationError} `invalid_option`
   */
  readonly scenario: (name: FaultScenario) => void;
  /** Removes every rate and every planned fault. */
  readonly clear: () => void;
  /** Planned faults and rates, as plain data. */
  readonly current: {
    readonly next: readonly { readonly target: FaultTarget; readonly fault: Fault }[];
    readonly rates: Readonly<Partial<Record<FaultTarget | 'all', FaultRates>>>;
  };
}

/** The faults of a sandbox, and the draws that decide when they happen. */
export interface FaultPlan {
  readonly controls: SandboxFaults;
  /** Restores the faults that the sandbox was made with, and the draws from the seed. */
  reset(): void;
  forRequest(operation: SandboxOperation | undefined): TimedRequestFault | undefined;
  /** Draws the faults of an event. The draws depend on its `id` alone, not on other events. */
  forEvent(name: OrderEventName, id: string): EventFaults;
}

/** The faults of one event, and the source of its other random values. */
export interface EventFaults {
  readonly random: SeededRandom;
  readonly list: readonly EventFault[];
  find(kind: EventFaultName): EventFault | undefined;
}

export function createFaultPlan({
  seed,
  initial,
}: {
  seed: string;
  initial: FaultScenario | FaultRates | undefined;
}): FaultPlan {
  const planned: PlannedFault[] = [];
  const rates = new Map<FaultTarget | 'all', { given: FaultRates; checked: CheckedRates }>();
  const streams = new Map<string, SeededRandom>();

  function rate(first: FaultTarget | FaultRates, second?: FaultRates): void {
    const target = typeof first === 'string' ? first : 'all';
    const checked = typeof first === 'string' ? checkRates(second, targetSide(first)) : checkRates(first);
    if (Object.keys(checked.given).length === 0) rates.delete(target);
    else rates.set(target, checked);
  }

  function scenario(name: FaultScenario): void {
    const known = Object.keys(faultScenarios);
    // Sound: the keys are the names, and an unknown one is refused.
    checkOneOf('faults.scenario', name, known as FaultScenario[]);
    rates.clear();
    rate(faultScenarios[name]);
  }

  /** Takes the first fault planned for one of these targets. */
  function takePlanned(targets: readonly FaultTarget[]): CheckedFault | undefined {
    const index = planned.findIndex(({ target }) => targets.includes(target));
    return index === -1 ? undefined : planned.splice(index, 1)[0]?.checked;
  }

  function ratesFor(targets: readonly (FaultTarget | 'all')[]): CheckedRates {
    return Object.assign({}, ...targets.map((target) => rates.get(target)?.checked ?? {}));
  }

  function reset(): void {
    planned.length = 0;
    rates.clear();
    streams.clear();
    if (typeof initial === 'string') scenario(initial);
    else if (initial !== undefined) rate(initial);
  }

  reset();

  return {
    controls: Object.freeze({
      next(target: FaultTarget, fault: Fault) {
        const side = targetSide(target);
        const checked = checkFault(fault);
        if (checked.of !== side) {
          throw invalidOption(`faults.next: "${checked.fault.kind}" cannot happen to "${target}".`);
        }
        planned.push({ target, fault, checked });
      },
      rate,
      scenario,
      clear() {
        planned.length = 0;
        rates.clear();
      },
      get current() {
        const shown = [...rates].map(([target, { given }]) => [target, given]);
        return {
          next: planned.map(({ target, fault }) => ({ target, fault })),
          // Sound: the keys of the map are those of the type.
          rates: Object.fromEntries(shown) as SandboxFaults['current']['rates'],
        };
      },
    }),

    reset,

    forRequest(operation) {
      if (planned.length === 0 && rates.size === 0) return undefined;
      const targets: FaultTarget[] = operation === undefined ? ['request'] : [operation, 'request'];
      const next = takePlanned(targets);
      if (next?.of === 'request') return next.fault;
      const name = `requests ${operation ?? ''}`;
      const random = streams.get(name) ?? seededRandom(seed, name);
      streams.set(name, random);
      return drawRequestFault(ratesFor(['all', ...targets.reverse()]), random);
    },

    forEvent(name, id) {
      const random = seededRandom(seed, `event ${name} ${id}`);
      if (planned.length === 0 && rates.size === 0) return { random, list: [], find: () => undefined };
      const next = takePlanned([name, 'event']);
      const drawn = drawEventFaults(ratesFor(['all', 'event', name]), random);
      const list =
        next?.of === 'event' ? [next.fault, ...drawn.filter(({ kind }) => kind !== next.fault.kind)] : drawn;
      return { random, list, find: (kind) => list.find((fault) => fault.kind === kind) };
    },
  };
}

interface PlannedFault {
  readonly target: FaultTarget;
  readonly fault: Fault;
  readonly checked: CheckedFault;
}

type CheckedRate = CheckedFault & {
  readonly probability: number;
  /** Whether a draw decides between before and after the effect. */
  readonly isTimeDrawn: boolean;
};

type CheckedRates = Readonly<Record<string, CheckedRate | undefined>>;

function drawRequestFault(rates: CheckedRates, random: SeededRandom): TimedRequestFault | undefined {
  let found: TimedRequestFault | undefined;
  for (const kind of Object.keys(requestFaults)) {
    const rate = rates[kind];
    if (rate?.of !== 'request' || rate.probability === 0) continue;
    // Always draws two numbers for a rate, so that the next fault does not depend on this one.
    const happens = random.chance(rate.probability);
    const when = random.chance(0.5) ? 'before' : 'after';
    if (happens && found === undefined) found = rate.isTimeDrawn ? { ...rate.fault, when } : rate.fault;
  }
  return found;
}

function drawEventFaults(rates: CheckedRates, random: SeededRandom): EventFault[] {
  return Object.keys(eventFaults).flatMap((kind) => {
    const rate = rates[kind];
    if (rate?.of !== 'event' || rate.probability === 0) return [];
    return random.chance(rate.probability) ? [rate.fault] : [];
  });
}

/**
 * @throws {ConfigurationError} `invalid_option` for an unknown fault, a fault of the other side, or an invalid
 * probability
 */
function checkRates(
  rates: unknown,
  side?: 'request' | 'event',
): { given: FaultRates; checked: CheckedRates } {
  if (typeof rates !== 'object' || rates === null) {
    throw invalidOption('faults.rate needs an object of rates.');
  }
  const checked = Object.entries(rates).map(([name, rate]) => [name, checkRate(name, rate, side)]);
  return { given: Object.freeze({ ...rates }), checked: Object.fromEntries(checked) };
}

function checkRate(
  name: string,
  rate: FaultRate | undefined,
  side: 'request' | 'event' | undefined,
): CheckedRate | undefined {
  if (rate === undefined) return undefined;
  const { probability, ...details } = typeof rate === 'object' ? rate : { probability: rate };
  // Sound: checkFault refuses unknown names.
  const checked = checkFault({ ...details, kind: name as RequestFaultName });
  if (side !== undefined && checked.of !== side) {
    throw invalidOption(`faults.rate: "${name}" cannot happen to this target.`);
  }
  if (typeof probability !== 'number' || !(probability >= 0 && probability <= 1)) {
    throw invalidOption(`faults.rate: the probability of "${name}" must be a number from 0 to 1.`);
  }
  const isTimeDrawn =
    checked.of === 'request' && details.when === undefined && !('only' in requestFaults[checked.fault.kind]);
  return { ...checked, probability, isTimeDrawn };
}
