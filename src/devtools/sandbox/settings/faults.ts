import { type Operation, operations } from '../../../deployment/operations.ts';
import { orderEventNames } from '../../../events/event-names.ts';
import type { OrderEventName } from '../../../events/order-event.ts';
import type { EventFaultName, FaultDetails } from './event-faults.ts';
import { type DenialForm, denialNames, type ReplyForm, replyFormNames } from './reply-forms.ts';

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

export interface RequestFaultRules {
  /** The default time. */
  readonly when: FaultTime;
  /** The only possible time. */
  readonly only?: FaultTime;
  readonly details: FaultDetails;
  /** @default any status from 200 to 599 */
  readonly statuses?: { readonly least: number; readonly most: number };
  /** The values of `form`. */
  readonly forms?: readonly (ReplyForm | DenialForm)[];
}

/**
 * Every fault of a request, with its default time and details; `plays` in wire-reply.ts plays each.
 * docs/details/sandbox.md says what each one does.
 */
export const requestFaults = {
  reset: { when: 'before', details: {} },
  reply_lost: { when: 'after', only: 'after', details: {} },
  stall: { when: 'before', details: {} },
  trickle: { when: 'after', details: { bytes: 16, delayMs: 10 } },
  truncate: { when: 'after', details: { bytes: undefined } },
  too_many_requests: { when: 'before', details: { retryAfterSeconds: 1 } },
  server_error: { when: 'before', details: { status: 500 }, statuses: { least: 500, most: 599 } },
  redirect: {
    when: 'before',
    details: { status: 307, location: 'https://elsewhere.invalid/' },
    statuses: { least: 300, most: 399 },
  },
  html: { when: 'before', details: { status: 502 } },
  misdirected: { when: 'before', details: {} },
  ok_with_error: { when: 'before', details: { form: 'success_false' }, forms: denialNames },
  wrong_content_type: { when: 'after', details: {} },
  gzip: { when: 'after', details: {} },
  other_reply: { when: 'after', only: 'after', details: { form: undefined }, forms: replyFormNames },
  other_status: {
    when: 'after',
    only: 'after',
    details: { status: 202 },
    statuses: { least: 200, most: 299 },
  },
  conflict: { when: 'after', details: { status: 409 }, statuses: { least: 400, most: 499 } },
} as const satisfies Record<string, RequestFaultRules>;

/** The details of one fault of a request. Those with a default are there. */
export type RequestFaultDetails<Name extends RequestFaultName> = DetailsOf<(typeof requestFaults)[Name]>;

type DetailsOf<Rules extends RequestFaultRules> = {
  readonly [Detail in keyof Rules['details'] & keyof FaultDetails]:
    | (Detail extends 'form' ? FormOf<Rules> : NonNullable<FaultDetails[Detail]>)
    | (Rules['details'][Detail] & undefined);
};
type FormOf<Rules> = Rules extends { readonly forms: readonly (infer Form)[] } ? Form : never;

/** @inline */
export type RequestFaultName = keyof typeof requestFaults;

// Sound: the keys of the table.
export const requestFaultNames = Object.keys(requestFaults) as RequestFaultName[];

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

/** Named sets of rates. docs/details/sandbox.md says what each one is for. */
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
  reshaped_events: {
    member_missing: 0.1,
    member_null: 0.1,
    member_type: 0.1,
    member_renamed: 0.05,
    member_nested: 0.05,
    member_long: 0.05,
    member_repeated: 0.05,
    status_respelled: 0.1,
    name_respelled: 0.1,
    sell_side: 0.1,
  },
  vague_replies: { other_reply: 0.2, other_status: 0.1, conflict: 0.1, ok_with_error: 0.1 },
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
