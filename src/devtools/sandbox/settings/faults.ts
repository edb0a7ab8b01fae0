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
 * Whether a fault replaces the effect of a request (`before`), happens although the service acted (`after`), or one of
 * both, as the seed decides each time (`either`).
 * @inline
 */
export type FaultTime = 'before' | 'after' | 'either';

export interface RequestFaultRules {
  /** The time of a fault that happens once. */
  readonly when: 'before' | 'after';
  /** The only possible time. */
  readonly only?: 'after';
  /** Whether its reply says that the service did not act: then it is true unless `when` is given. */
  readonly isRefusal?: true;
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
  too_many_requests: { when: 'before', isRefusal: true, details: { retryAfterSeconds: 1 } },
  server_error: { when: 'before', details: { status: 500 }, statuses: { least: 500, most: 599 } },
  redirect: {
    when: 'before',
    isRefusal: true,
    details: { status: 307, location: 'https://elsewhere.invalid/' },
    statuses: { least: 300, most: 399 },
  },
  html: { when: 'before', details: { status: 502 } },
  misdirected: { when: 'before', isRefusal: true, details: {} },
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
  conflict: {
    when: 'before',
    isRefusal: true,
    details: { status: 409 },
    statuses: { least: 400, most: 499 },
  },
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
  /**
   * @default `after` for faults that change the service's own reply, `before` for all others. With a `rate`, `either`,
   * except where the reply says that the service did not act: `after` plays a service that lies
   */
  readonly when?: FaultTime | undefined;
}

/** A fault of an event. Details that are absent have their defaults. */
export interface EventFault extends FaultDetails {
  /** The name of the fault: see {@link eventFaults}. */
  readonly kind: EventFaultName;
}

/** The target of a request's fault: one operation, or every request. @inline */
export type RequestFaultTarget = SandboxOperation | 'request';
/** The target of an event's fault: one kind of event, or every event. @inline */
export type EventFaultTarget = OrderEventName | 'event';
/** The target of a fault: an operation or a kind of event, or every request or every event. */
export type FaultTarget = RequestFaultTarget | EventFaultTarget;

/** A fault of a request whose time is decided. */
export interface TimedRequestFault extends RequestFault {
  readonly when: 'before' | 'after';
}

/** Every target, by the side of the wire. */
export const faultTargets: Readonly<Record<'request' | 'event', readonly string[]>> = {
  request: ['request', ...Object.keys(operations), 'openLink', 'signRequest'],
  event: ['event', ...orderEventNames],
};

/** Plans a fault once, or as often as its rate. */
export type PlannedFault = (
  | { readonly target: RequestFaultTarget; readonly fault: RequestFault['kind'] | RequestFault }
  | { readonly target: EventFaultTarget; readonly fault: EventFault['kind'] | EventFault }
) & {
  /**
   * The probability of the fault at each request or event, from 0 to 1.
   * @default undefined: it happens once, to the next one
   */
  readonly rate?: number | undefined;
};
