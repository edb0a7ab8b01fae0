import { nearestName } from '../../../internal/nearest-name.ts';
import {
  checkOneOf,
  integer,
  invalidOption,
  nested,
  type OptionRow,
  type OptionTable,
  timerMs,
  unchecked,
} from '../../../internal/options.ts';
import { type EventFaultName, eventFaultNames, eventFaults, type FaultDetails } from './event-faults.ts';
import {
  type EventFault,
  type FaultTime,
  faultTargets,
  type PlannedFault,
  type RequestFault,
  type RequestFaultName,
  type RequestFaultRules,
  requestFaultNames,
  requestFaults,
} from './faults.ts';

/** A planned fault, and the one that happens, with all of its details. */
export type CheckedFault = PlannedFault & { readonly played: PlayedFault };

type PlayedFault =
  | { readonly side: 'request'; readonly fault: RequestFault & { readonly when: FaultTime } }
  | { readonly side: 'event'; readonly fault: EventFault };

/** Checks a planned fault and fills in its defaults. @throws {ConfigurationError} `invalid_option` naming the problem */
export function checkFault(given: unknown, name: string): CheckedFault {
  // Sound: target, fault and rate are checked below.
  const planned = plannedRow(given, name) as PlannedFault;
  const { target, fault, rate } = planned;
  const side = sideOf(target);
  const played = withDetails(fault, { isOnce: rate === undefined });
  const { kind } = played.fault;
  if (played.side !== side) throw invalidOption(`faults: "${kind}" cannot happen to "${target}".`);
  if (rate !== undefined && !(typeof rate === 'number' && rate >= 0 && rate <= 1)) {
    throw invalidOption(`faults: the rate of "${kind}" must be a number from 0 to 1.`);
  }
  // A copy: the caller's object may change.
  return Object.freeze({ ...structuredClone(planned), played });
}

const plannedRow = nested({
  target: unchecked(),
  fault: unchecked(),
  rate: unchecked(),
} satisfies OptionTable<Record<keyof PlannedFault, unknown>>);

function sideOf(target: unknown): 'request' | 'event' {
  const name = String(target);
  for (const side of ['request', 'event'] as const) if (faultTargets[side].includes(name)) return side;
  throw unknownName('target', name, [...faultTargets.request, ...faultTargets.event]);
}

function withDetails(fault: unknown, { isOnce }: { isOnce: boolean }): PlayedFault {
  const named: FaultDetails & { kind?: unknown; when?: unknown } =
    typeof fault === 'object' && fault !== null ? fault : { kind: fault };
  const { kind, when, ...details } = named;
  if (isRequestFault(kind)) {
    const rules: RequestFaultRules = requestFaults[kind];
    const usual = isOnce || rules.isRefusal ? rules.when : 'either';
    const possible = rules.only === undefined ? (['before', 'after', 'either'] as const) : [rules.only];
    const time = checkOneOf(`${kind}.when`, when ?? rules.only ?? usual, possible);
    return { side: 'request', fault: { kind, when: time, ...readDetails(kind, rules, details) } };
  }
  if (isEventFault(kind)) {
    if (when !== undefined) throw invalidOption(`${kind} is a fault of events, which have no "when".`);
    return { side: 'event', fault: { kind, ...readDetails(kind, eventFaults[kind], details) } };
  }
  throw unknownName('fault', String(kind), [...requestFaultNames, ...eventFaultNames]);
}

function isRequestFault(name: unknown): name is RequestFaultName {
  return typeof name === 'string' && Object.hasOwn(requestFaults, name);
}

function isEventFault(name: unknown): name is EventFaultName {
  return typeof name === 'string' && Object.hasOwn(eventFaults, name);
}

function unknownName(what: 'target' | 'fault', unknown: string, known: readonly string[]) {
  const name = unknown.slice(0, 64);
  const near = nearestName(name, known);
  return invalidOption(
    `faults: there is no ${what} "${name}".`,
    near === undefined ? `There are ${known.join(', ')}.` : `Did you mean "${near}"?`,
  );
}

function readDetails(
  kind: string,
  { details, statuses = { least: 200, most: 599 }, forms = [] }: Partial<RequestFaultRules>,
  given: FaultDetails,
): FaultDetails {
  const rows: Readonly<Record<string, OptionRow<unknown>>> = {
    status: integer(statuses),
    retryAfterSeconds: integer({ least: 0 }),
    bytes: integer({ least: kind === 'trickle' ? 1 : 0 }),
    delayMs: timerMs({ least: 0 }),
    member: checkMemberPath,
    form: (form, name) => checkOneOf(name, form, forms),
    location: (text, name) => {
      if (typeof text === 'string' && /^[\t -~\x80-\xff]*$/.test(text)) return text;
      throw invalidOption(`${name} must be text that a header can have.`);
    },
  } satisfies OptionTable<FaultDetails>;
  const table = Object.entries(details ?? {}).map(([name, usual]) => [name, withDefault(rows[name], usual)]);
  return nested(Object.fromEntries(table))(given, kind);
}

function withDefault(row: OptionRow<unknown> | undefined, usual: unknown): OptionRow<unknown> {
  return (given, name) => (given === undefined ? usual : row?.(given, name));
}

/** @throws {ConfigurationError} `invalid_option` unless it is names with dots between them */
function checkMemberPath(given: unknown, name: string): string {
  if (
    typeof given === 'string' &&
    /^[\w-]{1,64}(?:\.[\w-]{1,64}){0,9}$/.test(given) &&
    !given.includes('__proto__')
  ) {
    return given;
  }
  throw invalidOption(`${name} must be the path of a member, such as payer_into_account.bank_name.`);
}
