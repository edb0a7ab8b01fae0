import type { OrderEventName } from '../../events/order-event.ts';
import { checkOneOf, invalidOption } from '../../options/check-values.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { checkFault, targetSide } from './check-fault.ts';
import {
  type EventFaultRates,
  type FaultRates,
  type FaultScenario,
  faultScenarios,
  type RequestFaultRates,
} from './fault-scenarios.ts';
import {
  type EventFault,
  type EventFaultName,
  type EventFaultTarget,
  eventFaults,
  type Fault,
  type FaultTarget,
  type RequestFault,
  type RequestFaultName,
  type RequestFaultTarget,
  type ResolvedEventFault,
  type ResolvedRequestFault,
  requestFaults,
  type SandboxOperation,
} from './fault-table.ts';

/** What can go wrong on the wire of a sandbox, and how often. */
export interface SandboxFaults {
  /**
   * Plans a fault for the next request of an operation (or of any: `request`), or the next event of a name (or of any:
   * `event`). Several calls queue up: one fault for each request or event.
   *
   * @throws {ConfigurationError} `invalid_option` for an unknown target or fault, or a fault of the other kind
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
   * Sets how often faults strike, in place of the rates before: everywhere, or at one target. The rates of an operation
   * or an event name go before those of all. A request has at most one fault; an event can have several.
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
  /** Sets the rates of a named scenario, in place of all rates before. @throws {ConfigurationError} `invalid_option` */
  readonly scenario: (name: FaultScenario) => void;
  /** Removes every rate and every planned fault. */
  readonly clear: () => void;
  /** What is planned and set, as plain data. */
  readonly current: {
    readonly next: readonly { readonly target: FaultTarget; readonly fault: Fault }[];
    readonly rates: Readonly<Partial<Record<FaultTarget | 'all', FaultRates>>>;
  };
}

/** The faults of a sandbox, and the draws that decide where they strike. Not public. */
export interface FaultPlan {
  readonly controls: SandboxFaults;
  /** Back to the beginning: the faults that the sandbox was made with, drawn anew from the seed. */
  reset(): void;
  /** Draws the fault of a request; `undefined` for none. */
  forRequest(operation: SandboxOperation | undefined): ResolvedRequestFault | undefined;
  /** Draws the faults of an event. `about` names the event among all: draws do not depend on what else happens. */
  forEvent(name: OrderEventName, about: string): EventFaults;
}

/** The faults of one event, and the source of what else is random about it. */
export interface EventFaults {
  readonly random: SeededRandom;
  readonly list: readonly ResolvedEventFault[];
  find(kind: EventFaultName): ResolvedEventFault | undefined;
}

export function createFaultPlan(options: {
  seed: string;
  initial: FaultScenario | FaultRates | undefined;
}): FaultPlan {
  const { seed } = options;
  const planned: { target: FaultTarget; fault: Fault }[] = [];
  const rates = new Map<FaultTarget | 'all', FaultRates>();
  const streams = new Map<string, SeededRandom>();

  function rate(first: FaultTarget | FaultRates, second?: FaultRates): void {
    if (typeof first === 'string') rates.set(first, checkRates(second, targetSide(first)));
    else rates.set('all', checkRates(first));
  }

  function scenario(name: FaultScenario): void {
    const known = Object.keys(faultScenarios);
    // Sound: the keys are the names, and an unknown one is refused.
    checkOneOf('faults.scenario', name, known as FaultScenario[]);
    rates.clear();
    rates.set('all', faultScenarios[name]);
  }

  /** Takes the first fault that is planned for one of these targets. */
  function take(targets: readonly FaultTarget[]): Fault | undefined {
    const index = planned.findIndex(({ target }) => targets.includes(target));
    return index === -1 ? undefined : planned.splice(index, 1)[0]?.fault;
  }

  function ratesFor(targets: readonly (FaultTarget | 'all')[]): FaultRates {
    return Object.assign({}, ...targets.map((target) => rates.get(target) ?? {}));
  }

  function reset(): void {
    planned.length = 0;
    rates.clear();
    streams.clear();
    const { initial } = options;
    if (typeof initial === 'string') scenario(initial);
    else if (initial !== undefined) rate(initial);
  }

  reset();

  return {
    controls: Object.freeze({
      next(target: FaultTarget, fault: Fault) {
        const side = targetSide(target);
        if (checkFault(fault).of !== side) {
          throw invalidOption(`faults.next: "${kindOf(fault)}" cannot befall "${target}".`);
        }
        planned.push({ target, fault });
      },
      rate,
      scenario,
      clear() {
        planned.length = 0;
        rates.clear();
      },
      get current() {
        // Sound: the keys of the map are those of the type.
        const shown = Object.fromEntries(rates) as SandboxFaults['current']['rates'];
        return { next: [...planned], rates: shown };
      },
    }),

    reset,

    forRequest(operation) {
      if (planned.length === 0 && rates.size === 0) return undefined;
      const targets: FaultTarget[] = operation === undefined ? ['request'] : [operation, 'request'];
      const next = take(targets);
      if (next !== undefined) return asRequestFault(next);
      const name = `requests ${operation ?? ''}`;
      const random = streams.get(name) ?? seededRandom(seed, name);
      streams.set(name, random);
      return drawRequestFault(ratesFor(['all', ...targets.reverse()]), random);
    },

    forEvent(name, about) {
      const random = seededRandom(seed, `event ${name} ${about}`);
      if (planned.length === 0 && rates.size === 0) return { random, list: [], find: () => undefined };
      const next = take([name, 'event']);
      const drawn = drawEventFaults(ratesFor(['all', 'event', name]), random);
      const others = next === undefined ? drawn : drawn.filter(({ kind }) => kind !== kindOf(next));
      const list = next === undefined ? others : [asEventFault(next), ...others];
      return { random, list, find: (kind) => list.find((fault) => fault.kind === kind) };
    },
  };
}

function drawRequestFault(rates: FaultRates, random: SeededRandom): ResolvedRequestFault | undefined {
  let found: ResolvedRequestFault | undefined;
  // Sound: these are the keys of the table.
  for (const kind of Object.keys(requestFaults) as RequestFaultName[]) {
    const { probability, fault } = split(kind, rates[kind]);
    if (probability === 0) continue;
    // Always two numbers for a rate: the next fault does not depend on whether this one struck.
    const strikes = random.chance(probability);
    const when = random.chance(0.5) ? 'before' : 'after';
    if (!strikes || found !== undefined) continue;
    const isFixed = 'only' in requestFaults[kind] || (typeof fault === 'object' && 'when' in fault);
    found = asRequestFault(isFixed ? fault : { ...fault, kind, when });
  }
  return found;
}

function drawEventFaults(rates: FaultRates, random: SeededRandom): ResolvedEventFault[] {
  // Sound: these are the keys of the table.
  return (Object.keys(eventFaults) as EventFaultName[]).flatMap((kind) => {
    const { probability, fault } = split(kind, rates[kind]);
    return probability > 0 && random.chance(probability) ? [asEventFault(fault)] : [];
  });
}

function split(kind: RequestFaultName | EventFaultName, rate: FaultRates[RequestFaultName]) {
  if (rate === undefined || typeof rate === 'number') return { probability: rate ?? 0, fault: { kind } };
  const { probability, ...details } = rate;
  return { probability, fault: { kind, ...details } };
}

/** @throws {ConfigurationError} `invalid_option` for an unknown fault, a fault of another side, or no probability */
function checkRates(rates: unknown, side?: 'request' | 'event'): FaultRates {
  if (typeof rates !== 'object' || rates === null)
    throw invalidOption('faults.rate needs an object of rates.');
  for (const [name, rate] of Object.entries(rates)) {
    if (rate === undefined) continue;
    // Sound: `checkFault` refuses what is no name of a fault.
    const kind = name as RequestFaultName;
    const { probability, fault } = split(kind, rate);
    const checked = checkFault(fault as Fault);
    if (side !== undefined && checked.of !== side) {
      throw invalidOption(`faults.rate: "${name}" cannot befall this target.`);
    }
    if (typeof probability !== 'number' || !(probability >= 0 && probability <= 1)) {
      throw invalidOption(`faults.rate: the probability of "${name}" must be a number from 0 to 1.`);
    }
  }
  return Object.freeze({ ...rates });
}

function kindOf(fault: Fault): string {
  return typeof fault === 'string' ? fault : fault.kind;
}

function asRequestFault(fault: unknown): ResolvedRequestFault {
  // Sound: it was checked when it was planned, and is checked again.
  const checked = checkFault(fault as Fault);
  if (checked.of !== 'request') throw new TypeError('Not a fault of a request.');
  return checked.fault;
}

function asEventFault(fault: unknown): ResolvedEventFault {
  // Sound: it was checked when it was planned, and is checked again.
  const checked = checkFault(fault as Fault);
  if (checked.of !== 'event') throw new TypeError('Not a fault of an event.');
  return checked.fault;
}
