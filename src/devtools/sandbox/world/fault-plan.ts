import type { OrderEventName } from '../../../events/order-event.ts';
import { type CheckedFault, checkFault } from '../settings/check-fault.ts';
import { eventFaultNames } from '../settings/event-faults.ts';
import {
  type EventFault,
  type EventFaultTarget,
  type FaultTarget,
  type FaultTime,
  type PlannedFault,
  type RequestFault,
  type RequestFaultTarget,
  requestFaultNames,
  type SandboxOperation,
  type TimedRequestFault,
} from '../settings/faults.ts';
import { type SeededRandom, seededRandom } from '../settings/seeded-random.ts';

/** Controls which faults happen, and how often. */
export interface SandboxFaults {
  /**
   * Plans a fault for an operation (`request`: for any), or for the events of a name (`event`: for all). Without `rate`
   * it happens once, to the next one; several queue up. With a `rate` it happens that often, in place of an earlier rate
   * of the same fault at the same target; the rate at an operation or event name goes before the general one. A request
   * has at most one fault, an event can have several.
   *
   * @throws {ConfigurationError} `invalid_option` for an unknown target or fault, a fault of the other side, or a rate
   *   that is not from 0 to 1
   * @example
   * ```ts
   * sandbox.faults.plan('createOrder', 'reply_lost');
   * sandbox.faults.plan('createOrder', { kind: 'reset', when: 'after' });
   * sandbox.faults.plan('event.buy.credited.crypto', 'concurrent_duplicate');
   * sandbox.faults.plan('event', 'duplicate', { rate: 0.2 });
   * ```
   */
  readonly plan: {
    (target: RequestFaultTarget, fault: RequestFault['kind'] | RequestFault, often?: FaultOften): void;
    (target: EventFaultTarget, fault: EventFault['kind'] | EventFault, often?: FaultOften): void;
  };
  /** Removes every planned fault. */
  readonly clear: () => void;
  /** Lists the planned faults, in the order in which they were planned. */
  readonly list: () => readonly PlannedFault[];
}

/** How often a fault happens. @inline */
type FaultOften = Pick<PlannedFault, 'rate'>;

/** The faults of a sandbox, and the draws that decide when they happen. */
export function createFaultPlan({ seed, initial }: { seed: string; initial: readonly CheckedFault[] }) {
  let faults: readonly CheckedFault[] = [];
  const streams = new Map<string, SeededRandom>();

  function plan(planned: CheckedFault): void {
    const isReplaced = ({ target, rate, played }: CheckedFault) =>
      target === planned.target && rate !== undefined && played.fault.kind === planned.played.fault.kind;
    const kept = planned.rate === undefined ? faults : faults.filter((fault) => !isReplaced(fault));
    faults = [...kept, planned];
  }

  /** Takes the first fault that is planned once for one of these targets. */
  function takePlanned(targets: readonly FaultTarget[]): CheckedFault['played'] | undefined {
    const next = faults.find(({ target, rate }) => rate === undefined && targets.includes(target));
    if (next !== undefined) faults = faults.filter((fault) => fault !== next);
    return next?.played;
  }

  /** The rate of a fault at the first of these targets that has one. */
  function rateOf(kind: string, targets: readonly FaultTarget[]): CheckedFault | undefined {
    const rates = faults.filter(({ rate, played }) => rate !== undefined && played.fault.kind === kind);
    for (const target of targets) {
      const own = rates.find((fault) => fault.target === target);
      if (own !== undefined) return own.rate === 0 ? undefined : own;
    }
    return undefined;
  }

  function drawRequestFault(
    targets: readonly FaultTarget[],
    random: SeededRandom,
  ): TimedRequestFault | undefined {
    const next = takePlanned(targets);
    if (next?.side === 'request') return timed(next.fault, () => drawTime(random));
    let drawn: TimedRequestFault | undefined;
    for (const kind of requestFaultNames) {
      const { rate = 0, played } = rateOf(kind, targets) ?? {};
      if (played?.side !== 'request') continue;
      // Always draws two numbers for a rate, so that the next fault does not depend on this one.
      const happens = random.chance(rate);
      const time = drawTime(random);
      if (happens) drawn ??= timed(played.fault, () => time);
    }
    return drawn;
  }

  function drawEventFaults(targets: readonly FaultTarget[], random: SeededRandom): EventFault[] {
    return eventFaultNames.flatMap((kind) => {
      const { rate = 0, played } = rateOf(kind, targets) ?? {};
      return played?.side === 'event' && random.chance(rate) ? [played.fault] : [];
    });
  }

  /** Restores the faults that the sandbox was made with, and the draws from the seed. */
  function reset(): void {
    faults = [];
    streams.clear();
    for (const fault of initial) plan(fault);
  }

  reset();

  const controls: SandboxFaults = Object.freeze({
    plan: (target: FaultTarget, fault: PlannedFault['fault'], { rate }: FaultOften = {}) =>
      plan(checkFault({ target, fault, rate }, 'faults.plan')),
    clear() {
      faults = [];
    },
    list: () => faults.map(({ played: _, ...planned }) => planned),
  });

  function forRequest(operation: SandboxOperation | undefined): TimedRequestFault | undefined {
    const targets: FaultTarget[] = operation === undefined ? ['request'] : [operation, 'request'];
    const name = `requests ${operation ?? ''}`;
    const random = streams.get(name) ?? seededRandom(seed, name);
    streams.set(name, random);
    return drawRequestFault(targets, random);
  }

  /** The faults of an event, and the source of its other random values. They depend on its `id`, not on other events. */
  function forEvent(name: OrderEventName, id: string) {
    const random = seededRandom(seed, `event ${name} ${id}`);
    const targets: FaultTarget[] = [name, 'event'];
    const next = takePlanned(targets);
    const drawn = drawEventFaults(targets, random);
    const list =
      next?.side === 'event' ? [next.fault, ...drawn.filter(({ kind }) => kind !== next.fault.kind)] : drawn;
    return { random, list };
  }

  return { controls, reset, forRequest, forEvent };
}

function drawTime(random: SeededRandom): TimedRequestFault['when'] {
  return random.chance(0.5) ? 'before' : 'after';
}

function timed(
  fault: RequestFault & { readonly when: FaultTime },
  draw: () => TimedRequestFault['when'],
): TimedRequestFault {
  return { ...fault, when: fault.when === 'either' ? draw() : fault.when };
}
