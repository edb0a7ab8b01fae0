import { type Operation, operations } from '../../deployment/operations.ts';
import { orderEventNames } from '../../events/event-names.ts';
import type { OrderEventName } from '../../events/order-event.ts';

/**
 * The requests that the service answers: the contract's operations, the one-time link, and the reported signing
 * endpoint.
 * @inline
 */
export type SandboxOperation = Operation | 'openLink' | 'signRequest';

/**
 * Whether a fault replaces the effect of a request (`before`), or happens although the service acted (`after`).
 * @inline
 */
export type FaultTime = 'before' | 'after';

/** The details of a fault. */
export interface FaultDetails {
  /** HTTP status of the reply. */
  readonly status?: number | undefined;
  /** The Retry-After header, in seconds. */
  readonly retryAfterSeconds?: number | undefined;
  /** The Location header. */
  readonly location?: string | undefined;
  /** Bytes of the body: those sent before the connection breaks, or those of one piece. */
  readonly bytes?: number | undefined;
  /** Milliseconds on the sandbox's clock: between two pieces of a body, or until an event is posted. */
  readonly delayMs?: number | undefined;
}

interface RequestFaultRules {
  /** The default time. */
  readonly when: FaultTime;
  /** The only possible time. */
  readonly only?: FaultTime;
  readonly details: FaultDetails;
}

/**
 * Every fault of a request:
 *
 * - `reset`: the connection is reset, without a reply (`ECONNRESET`)
 * - `reply_lost`: the service acts, and the connection closes without a reply
 * - `stall`: no reply, until the caller gives up
 * - `trickle`: the reply arrives in small pieces with pauses
 * - `truncate`: the connection breaks within the reply's body (by default after half of it)
 * - `too_many_requests`: 429 with Retry-After
 * - `server_error`: 500 or another status, with a JSON body
 * - `redirect`: 307 or another status, to another host
 * - `html`: the page of a gateway, 502 or another status
 * - `misdirected`: 421, after which some platforms repeat a request by themselves
 * - `ok_with_error`: 200 with an error in the body
 * - `wrong_content_type`: the reply's JSON, labelled as text/html
 * - `gzip`: the reply's body compressed, although the caller did not ask for it
 *
 * `wrong_content_type`, `gzip`, `trickle` and `truncate` change the service's own reply; before the effect that is a
 * 503.
 */
export const requestFaults = {
  reset: { when: 'before', details: {} },
  reply_lost: { when: 'after', only: 'after', details: {} },
  stall: { when: 'before', details: {} },
  trickle: { when: 'after', details: { bytes: 16, delayMs: 10 } },
  truncate: { when: 'after', details: { bytes: undefined } },
  too_many_requests: { when: 'before', details: { retryAfterSeconds: 1 } },
  server_error: { when: 'before', details: { status: 500 } },
  redirect: { when: 'before', details: { status: 307, location: 'https://elsewhere.invalid/' } },
  html: { when: 'before', details: { status: 502 } },
  misdirected: { when: 'before', details: {} },
  ok_with_error: { when: 'before', details: {} },
  wrong_content_type: { when: 'after', details: {} },
  gzip: { when: 'after', details: {} },
} as const satisfies Record<string, RequestFaultRules>;

interface EventFaultRules {
  readonly details: FaultDetails;
}

/**
 * Every fault of an event:
 *
 * - `duplicate`: posted again after it was answered
 * - `concurrent_duplicate`: posted twice at once
 * - `reorder`: posted after the next event of its order, or when no other event is outstanding
 * - `delay`: posted later on the sandbox's clock; later events overtake it
 * - `drop`: never posted
 * - `before_reply`: the init event is posted and answered before the order's reply is sent
 * - `old_key`: signed with the keys before the last regeneration, if there was one
 * - `forged`: preceded by a copy signed with a key that was never issued
 * - `tampered`: preceded by a copy whose amount was changed after signing
 * - `unfamiliar_name`: preceded by an authentic event with an unpublished name
 * - `extra_members`: has members outside the contract, with names that break careless code
 * - `awkward_spelling`: spelled as `eventSpelling: 'awkward'` does
 */
export const eventFaults = {
  duplicate: { details: {} },
  concurrent_duplicate: { details: {} },
  reorder: { details: {} },
  delay: { details: { delayMs: 1000 } },
  drop: { details: {} },
  before_reply: { details: {} },
  old_key: { details: {} },
  forged: { details: {} },
  tampered: { details: {} },
  unfamiliar_name: { details: {} },
  extra_members: { details: {} },
  awkward_spelling: { details: {} },
} as const satisfies Record<string, EventFaultRules>;

/** @inline */
export type RequestFaultName = keyof typeof requestFaults;
/** @inline */
export type EventFaultName = keyof typeof eventFaults;

// Sound: the keys of the tables.
export const requestFaultNames = Object.keys(requestFaults) as RequestFaultName[];
export const eventFaultNames = Object.keys(eventFaults) as EventFaultName[];

/** A fault of a request. Details that are absent have their defaults. */
export interface RequestFault extends FaultDetails {
  /** The name of the fault: see {@link requestFaults}. */
  readonly kind: RequestFaultName;
  /** @default `after` for faults that change the service's own reply, `before` for most others */
  readonly when?: FaultTime | undefined;
}

/** A fault of an event. Details that are absent have their defaults. */
export interface EventFault extends FaultDetails {
  /** The name of the fault: see {@link eventFaults}. */
  readonly kind: EventFaultName;
}

/** A fault, as its name or with details. */
export type Fault = RequestFaultName | EventFaultName | RequestFault | EventFault;

/** The target of a request's fault: one operation, or every request. @inline */
export type RequestFaultTarget = SandboxOperation | 'request';
/** The target of an event's fault: one kind of event, or every event. @inline */
export type EventFaultTarget = OrderEventName | 'event';
/** The target of a fault: an operation or a kind of event, or every request or every event. */
export type FaultTarget = RequestFaultTarget | EventFaultTarget;

/** A fault of a request whose time is decided. */
export interface TimedRequestFault extends RequestFault {
  readonly when: FaultTime;
}

/** Every target, by the side of the wire. */
export const faultTargets: Readonly<Record<'request' | 'event', readonly string[]>> = {
  request: ['request', ...Object.keys(operations), 'openLink', 'signRequest'],
  event: ['event', ...orderEventNames],
};

/** The probability of a fault from 0 to 1, alone or with the fault's details. @inline */
export type FaultRate =
  | number
  | ({ readonly probability: number; readonly when?: FaultTime | undefined } & FaultDetails);

/**
 * How often each fault of a request happens. Without `when` the seed decides each time between before and after, if
 * both are possible.
 */
export type RequestFaultRates = { readonly [Name in RequestFaultName]?: FaultRate | undefined };
/** How often each fault of an event happens. */
export type EventFaultRates = { readonly [Name in EventFaultName]?: FaultRate | undefined };
/** How often each fault happens. */
export type FaultRates = RequestFaultRates & EventFaultRates;

/**
 * Named sets of rates:
 *
 * - `calm`: no faults
 * - `bad_network`: broken connections, before, during and after the effect
 * - `lost_replies`: the service acts, and the reply is lost
 * - `slow`: replies that stall or trickle
 * - `rate_limited`: 429 with Retry-After
 * - `bad_gateway`: pages, redirects and statuses of a gateway, before and after the effect
 * - `outage`: 503 for every request
 * - `repeated_events`: duplicates, also at the same time
 * - `shuffled_events`: events out of order, late, or before the order's reply
 * - `lost_events`: events that are never posted
 * - `attacked`: forged and tampered events among the genuine ones
 * - `strange_events`: unpublished names, members and spellings
 * - `hostile`: all of these, except faults that stall or lose an event forever
 */
export const faultScenarios = {
  calm: {},
  bad_network: { reset: 0.1, reply_lost: 0.1, truncate: 0.1, trickle: 0.05 },
  lost_replies: { reply_lost: 0.2, reset: { probability: 0.1, when: 'after' } },
  slow: { stall: 0.1, trickle: 0.3 },
  rate_limited: { too_many_requests: { probability: 0.3, when: 'before' } },
  bad_gateway: { server_error: 0.1, html: 0.1, redirect: 0.05, misdirected: 0.05, wrong_content_type: 0.1 },
  outage: { server_error: { probability: 1, when: 'before', status: 503 } },
  repeated_events: { duplicate: 0.3, concurrent_duplicate: 0.2 },
  shuffled_events: { reorder: 0.3, delay: 0.2, before_reply: 0.3 },
  lost_events: { drop: 0.2 },
  attacked: { forged: 0.3, tampered: 0.3 },
  strange_events: { unfamiliar_name: 0.2, extra_members: 0.3, awkward_spelling: 0.5 },
  hostile: {
    reset: 0.05,
    reply_lost: 0.05,
    truncate: 0.03,
    trickle: 0.02,
    too_many_requests: { probability: 0.05, when: 'before' },
    server_error: 0.05,
    html: 0.03,
    redirect: 0.02,
    misdirected: 0.03,
    wrong_content_type: 0.05,
    gzip: 0.05,
    duplicate: 0.15,
    concurrent_duplicate: 0.1,
    reorder: 0.15,
    delay: 0.1,
    before_reply: 0.2,
    forged: 0.1,
    tampered: 0.1,
    unfamiliar_name: 0.1,
    extra_members: 0.2,
    awkward_spelling: 0.3,
  },
} as const satisfies Record<string, FaultRates>;

/** The name of a scenario: see {@link faultScenarios}. @useDeclaredType */
export type FaultScenario = keyof typeof faultScenarios;

// Sound: the keys of the table.
export const faultScenarioNames = Object.keys(faultScenarios) as FaultScenario[];
