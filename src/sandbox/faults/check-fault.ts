import { checkNames } from '../../options/check-names.ts';
import { checkInteger, checkOneOf, invalidOption } from '../../options/check-values.ts';
import { nearestName } from '../../options/nearest-name.ts';
import { longestTimerMs } from '../../runtime/longest-timer.ts';
import {
  type EventFaultName,
  eventFaults,
  type Fault,
  type FaultDetails,
  type FaultTime,
  faultTargets,
  type RequestFaultName,
  type ResolvedEventFault,
  type ResolvedRequestFault,
  requestFaults,
} from './fault-table.ts';

/** A fault with all of its details, and the side that it befalls. */
export type CheckedFault =
  | { readonly of: 'request'; readonly fault: ResolvedRequestFault }
  | { readonly of: 'event'; readonly fault: ResolvedEventFault };

/** The side of the wire that a target is on. @throws {ConfigurationError} `invalid_option` */
export function targetSide(target: unknown): 'request' | 'event' {
  const name = String(target);
  for (const side of ['request', 'event'] as const) if (faultTargets[side].includes(name)) return side;
  const near = nearestName(name, [...faultTargets.request, ...faultTargets.event]);
  throw invalidOption(
    `faults: there is no target "${name.slice(0, 64)}". ${
      near === undefined
        ? `There are ${[...faultTargets.request, ...faultTargets.event].join(', ')}.`
        : `Did you mean "${near}"?`
    }`,
  );
}

/** A fault as given, with its defaults. @throws {ConfigurationError} `invalid_option` naming what is wrong */
export function checkFault(given: Fault): CheckedFault {
  const named: FaultDetails & { kind: unknown; when?: unknown } =
    typeof given === 'object' && given !== null ? given : { kind: given };
  const { kind, when, ...details } = named;
  if (isRequestFault(kind)) {
    const rules: { when: FaultTime; only?: FaultTime; details: FaultDetails } = requestFaults[kind];
    const time = checkOneOf(`${kind}.when`, when ?? rules.when, ['before', 'after']);
    if (rules.only !== undefined && time !== rules.only) {
      throw invalidOption(`${kind}.when can only be '${rules.only}'.`);
    }
    return { of: 'request', fault: { kind, when: time, ...checkDetails(kind, rules.details, details) } };
  }
  if (isEventFault(kind)) {
    if (when !== undefined) throw invalidOption(`${kind} is a fault of events, which have no "when".`);
    return { of: 'event', fault: { kind, ...checkDetails(kind, eventFaults[kind].details, details) } };
  }
  throw unknownFault(kind);
}

export function isRequestFault(name: unknown): name is RequestFaultName {
  return typeof name === 'string' && Object.hasOwn(requestFaults, name);
}

export function isEventFault(name: unknown): name is EventFaultName {
  return typeof name === 'string' && Object.hasOwn(eventFaults, name);
}

function unknownFault(kind: unknown) {
  const known = [...Object.keys(requestFaults), ...Object.keys(eventFaults)];
  const name = String(kind).slice(0, 64);
  const near = nearestName(name, known);
  return invalidOption(
    `faults: there is no fault "${name}". ${
      near === undefined ? `There are ${known.join(', ')}.` : `Did you mean "${near}"?`
    }`,
  );
}

function checkDetails(kind: string, defaults: FaultDetails, given: FaultDetails): FaultDetails {
  // Sound: every own key of the defaults maps to true; checkNames only reads names.
  checkNames(kind, given, Object.fromEntries(Object.keys(defaults).map((name) => [name, true as const])));
  const details = { ...defaults, ...given };
  const integer = (name: keyof FaultDetails, least: number, most?: number) => {
    if (details[name] === undefined) return;
    checkInteger(`${kind}.${name}`, details[name], most === undefined ? { least } : { least, most });
  };
  if (kind === 'redirect') integer('status', 300, 399);
  else if (kind === 'server_error') integer('status', 500, 599);
  else integer('status', 200, 599);
  integer('retryAfterSeconds', 0);
  integer('bytes', kind === 'trickle' ? 1 : 0);
  integer('delayMs', 0, longestTimerMs);
  const { location } = details;
  if (location !== undefined && (typeof location !== 'string' || !/^[\t -~\x80-\xff]*$/.test(location))) {
    throw invalidOption(`${kind}.location must be text that a header can have.`);
  }
  return details;
}
