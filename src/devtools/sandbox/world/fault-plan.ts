import type { OrderEventName } from '../../../events/order-event.ts';
import { checkOneOf, invalidOption } from '../../../internal/options.ts';
import { type CheckedFault, checkFault, targetSide } from '../settings/check-fault.ts';
import { type EventFaultName, eventFaultNames } from '../settings/event-faults.ts';
import {
  type EventFault,
  type EventFaultRates,
  type EventFaultTarget,
  type Fault,
  type FaultRate,
  type FaultRates,
  type FaultScenario,
  type FaultTarget,
  faultScenarioNames,
  faultScenarios,
  type RequestFault,
  type RequestFaultName,
  type RequestFaultRates,
  type RequestFaultTarget,
  requestFaultNames,
  requestFaults,
  type SandboxOperation,
  type TimedRequestFault,
} from '../settings/faults.ts';
import { type SeededRandom, seededRandom } from '../settings/seeded-random.ts';

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
  /**
   * Sets every planned fault and every rate, in place of all earlier ones; those that are left out are removed. It takes
   * the form of `current`.
   *
   * @throws {ConfigurationError} `invalid_option`; the earlier ones stay
   * @example
   * ```ts
   * const { next, rates } = sandbox.faults.current;
   * sandbox.faults.set({ next, rates: { ...rates, createOrder: { reset: 0.1 } } });
   * ```
   */
  readonly set: (faults: Partial<SandboxFaults['current']>) => void;
  /** Removes every rate and every planned fault. */
  readonly clear: () => void;
  /** Planned faults and rates, as plain data. */
  readonly current: {
    readonly next: readonly { readonly target: FaultTarget; readonly fault: Fault }[];
    readonly rates: Readonly<Partial<Record<FaultTarget | 'all', FaultRates>>>;
  };
}

export type FaultPlan = ReturnType<typeof createFaultPlan>;

/** The faults of a sandbox, and the draws that decide when they happen. */
export function createFaultPlan({
  seed,
  initial,
}: {
  seed: string;
  initial: FaultScenario | FaultRates | undefined;
}) {
  const planned: PlannedFault[] = [];
  const rates = new Map<FaultTarget | 'all', FaultRates>();
  const streams = new Map<string, SeededRandom>();

  function rate(first: FaultTarget | FaultRates, second?: FaultRates): void {
    const target = typeof first === 'string' ? first : 'all';
    const given = typeof first === 'string' ? second : first;
    const checked = checkRates(given, typeof first === 'string' ? targetSide(first) : undefined);
    setRates(target, checked);
  }

  function setRates(target: FaultTarget | 'all', checked: FaultRates): void {
    if (Object.keys(checked).length === 0) rates.delete(target);
    else rates.set(target, checked);
  }

  function set(given: Partial<SandboxFaults['current']>): void {
    const next = (given.next ?? []).map(checkPlanned);
    // Sound: targetSide refuses other keys.
    const entries = Object.entries(given.rates ?? {}) as [FaultTarget | 'all', FaultRates][];
    const checked = entries.map(
      ([target, each]) =>
        [target, checkRates(each, target === 'all' ? undefined : targetSide(target))] as const,
    );
    clear();
    planned.push(...next);
    for (const [target, each] of checked) setRates(target, each);
  }

  function scenario(name: FaultScenario): void {
    checkOneOf('faults.scenario', name, faultScenarioNames);
    rates.clear();
    rate(faultScenarios[name]);
  }

  /** Takes the first fault planned for one of these targets. */
  function takePlanned(targets: readonly FaultTarget[]): CheckedFault | undefined {
    const index = planned.findIndex(({ target }) => targets.includes(target));
    const [next] = index === -1 ? [] : planned.splice(index, 1);
    return next && checkFault(next.fault);
  }

  function ratesFor(targets: readonly (FaultTarget | 'all')[]): FaultRates {
    return Object.assign({}, ...targets.map((target) => rates.get(target)));
  }

  function clear(): void {
    planned.length = 0;
    rates.clear();
  }

  /** Restores the faults that the sandbox was made with, and the draws from the seed. */
  function reset(): void {
    clear();
    streams.clear();
    if (typeof initial === 'string') scenario(initial);
    else if (initial !== undefined) rate(initial);
  }

  reset();

  const controls: SandboxFaults = Object.freeze({
    next: (target: FaultTarget, fault: Fault) => void planned.push(checkPlanned({ target, fault })),
    set,
    rate,
    scenario,
    clear,
    get current() {
      return {
        next: [...planned],
        // Sound: the keys of the map are those of the type.
        rates: Object.fromEntries(rates) as SandboxFaults['current']['rates'],
      };
    },
  });

  function forRequest(operation: SandboxOperation | undefined): TimedRequestFault | undefined {
    const targets: FaultTarget[] = operation === undefined ? ['request'] : [operation, 'request'];
    const next = takePlanned(targets);
    if (next?.of === 'request') return next.fault;
    const name = `requests ${operation ?? ''}`;
    const random = streams.get(name) ?? seededRandom(seed, name);
    streams.set(name, random);
    return drawRequestFault(ratesFor(['all', ...targets.reverse()]), random);
  }

  /** The faults of an event, and the source of its other random values. They depend on its `id`, not on other events. */
  function forEvent(name: OrderEventName, id: string) {
    const random = seededRandom(seed, `event ${name} ${id}`);
    const next = takePlanned([name, 'event']);
    const drawn = drawEventFaults(ratesFor(['all', 'event', name]), random);
    const list =
      next?.of === 'event' ? [next.fault, ...drawn.filter(({ kind }) => kind !== next.fault.kind)] : drawn;
    return { random, list };
  }

  return { controls, reset, forRequest, forEvent };
}

type PlannedFault = SandboxFaults['current']['next'][number];

function checkPlanned({ target, fault }: PlannedFault): PlannedFault {
  const side = targetSide(target);
  const checked = checkFault(fault);
  if (checked.of !== side) {
    throw invalidOption(`faults.next: "${checked.fault.kind}" cannot happen to "${target}".`);
  }
  return Object.freeze({ target, fault: structuredClone(fault) });
}

function drawRequestFault(rates: FaultRates, random: SeededRandom): TimedRequestFault | undefined {
  let found: TimedRequestFault | undefined;
  for (const kind of requestFaultNames) {
    const { probability, ...details } = detailed(rates[kind]);
    if (probability === 0) continue;
    // Always draws two numbers for a rate, so that the next fault does not depend on this one.
    const happens = random.chance(probability);
    const drawnTime = random.chance(0.5) ? 'before' : 'after';
    if (!happens || found !== undefined) continue;
    const when = details.when ?? ('only' in requestFaults[kind] ? undefined : drawnTime);
    const checked = checkFault({ ...details, kind, when });
    if (checked.of === 'request') found = checked.fault;
  }
  return found;
}

function drawEventFaults(rates: FaultRates, random: SeededRandom): EventFault[] {
  return eventFaultNames.flatMap((kind) => {
    const { probability, ...details } = detailed(rates[kind]);
    if (probability === 0 || !random.chance(probability)) return [];
    const checked = checkFault({ ...details, kind });
    return checked.of === 'event' ? [checked.fault] : [];
  });
}

function detailed(rate: FaultRate | undefined): Exclude<FaultRate, number> {
  return typeof rate === 'object' ? rate : { probability: rate ?? 0 };
}

/**
 * @throws {ConfigurationError} `invalid_option` for an unknown fault, a fault of the other side, or an invalid
 * probability
 */
function checkRates(rates: FaultRates | undefined, side: 'request' | 'event' | undefined): FaultRates {
  if (typeof rates !== 'object' || rates === null) {
    throw invalidOption('faults.rate needs an object of rates.');
  }
  // Sound: checkFault refuses unknown names.
  for (const [name, rate] of Object.entries(rates) as [RequestFaultName, FaultRate | undefined][]) {
    if (rate === undefined) continue;
    const { probability, ...details } = detailed(rate);
    const { of } = checkFault({ ...details, kind: name });
    if (side !== undefined && of !== side) {
      throw invalidOption(`faults.rate: "${name}" cannot happen to this target.`);
    }
    if (typeof probability !== 'number' || !(probability >= 0 && probability <= 1)) {
      throw invalidOption(`faults.rate: the probability of "${name}" must be a number from 0 to 1.`);
    }
  }
  return Object.freeze(structuredClone(rates));
}
