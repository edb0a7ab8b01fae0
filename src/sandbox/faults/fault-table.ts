import type { Operation } from '../../deployment/operations.ts';
import type { OrderEventName } from '../../events/order-event.ts';

/** What the service answers: the operations of the contract, the one-time link, and the reported signing endpoint. */
export type SandboxOperation = Operation | 'openLink' | 'signRequest';

/** Whether a fault comes instead of the effect of a request (`before`), or although the service has acted (`after`). */
export type FaultTime = 'before' | 'after';

/** The details that a fault can be given, and their defaults. */
export interface FaultDetails {
  /** HTTP status of the reply. */
  readonly status?: number | undefined;
  /** The Retry-After header, in seconds. */
  readonly retryAfterSeconds?: number | undefined;
  /** The Location header. */
  readonly location?: string | undefined;
  /** Bytes of the body: those that are sent before the connection breaks, or those of one piece. */
  readonly bytes?: number | undefined;
  /** Milliseconds on the sandbox's clock: between two pieces of a body, or until an event is posted. */
  readonly delayMs?: number | undefined;
}

interface RequestFaultRules {
  /** When it strikes, unless told otherwise. */
  readonly when: FaultTime;
  /** The only time at which it can strike. */
  readonly only?: FaultTime;
  readonly details: FaultDetails;
}

/**
 * Every fault of a request:
 *
 * - `reset`: the connection is reset, without a reply (`ECONNRESET`)
 * - `reply_lost`: the service acts, and the connection is closed without a reply
 * - `stall`: nothing comes until the caller gives up
 * - `trickle`: the reply comes in small pieces with pauses
 * - `truncate`: the connection breaks in the middle of the reply's body (by default after half of it), at the latest
 *   before its last byte
 * - `too_many_requests`: 429 with Retry-After
 * - `server_error`: 500 or another status, with a JSON body
 * - `redirect`: 307 or another status, to another host
 * - `html`: the page of a gateway, 502 or another status
 * - `misdirected`: 421, after which some platforms send a request again by themselves
 * - `ok_with_error`: 200 with an error inside
 * - `wrong_content_type`: the reply's JSON, labelled as text/html
 * - `gzip`: the reply's body compressed, though nobody asked for it
 *
 * The last two, `trickle` and `truncate` change the service's own reply; before the effect that is a 503.
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
 * - `reorder`: posted after the next event of its order, at the latest when nothing else is outstanding
 * - `delay`: posted later on the sandbox's clock; later events overtake it
 * - `drop`: never posted
 * - `before_reply`: the init event is posted and answered before the order's reply is sent
 * - `old_key`: signed with the keys before the last regeneration, where there was one
 * - `forged`: a copy signed with a key that nobody issued is posted first
 * - `tampered`: a copy whose amount was changed after signing is posted first
 * - `unfamiliar_name`: an authentic event with a name that is not published is posted first
 * - `extra_members`: members that the contract does not know, with names that careless code trips over
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

export type RequestFaultName = keyof typeof requestFaults;
export type EventFaultName = keyof typeof eventFaults;

/** A fault of a request, with its details where they differ from the defaults. */
export interface RequestFault extends FaultDetails {
  readonly kind: RequestFaultName;
  /** @default as the fault's description says: mostly `before`, `after` for those that change the service's own reply */
  readonly when?: FaultTime | undefined;
}

/** A fault of an event, with its details where they differ from the defaults. */
export interface EventFault extends FaultDetails {
  readonly kind: EventFaultName;
}

/** A fault, as its name or with details. */
export type Fault = RequestFaultName | EventFaultName | RequestFault | EventFault;

/** What a fault of a request befalls: one operation, or every request. */
export type RequestFaultTarget = SandboxOperation | 'request';
/** What a fault of an event befalls: one kind of event, or every event. */
export type EventFaultTarget = OrderEventName | 'event';
export type FaultTarget = RequestFaultTarget | EventFaultTarget;

/** A fault of a request with all of its details. */
export interface ResolvedRequestFault extends FaultDetails {
  readonly kind: RequestFaultName;
  readonly when: FaultTime;
}

/** A fault of an event with all of its details. */
export interface ResolvedEventFault extends FaultDetails {
  readonly kind: EventFaultName;
}

const operations: Readonly<Record<SandboxOperation, true>> = {
  onboard: true,
  whitelistIp: true,
  regenerateKeys: true,
  createOrder: true,
  generateApiKey: true,
  scanDevice: true,
  checkNumber: true,
  sendMessage: true,
  openLink: true,
  signRequest: true,
};

const events: Readonly<Record<OrderEventName, true>> = {
  'event.buy.init': true,
  'event.buy.received.fiat': true,
  'event.buy.received.fiat_kyc_error': true,
  'event.buy.third_party_error': true,
  'event.buy.credited.crypto': true,
  'buy.event.close': true,
};

/** The names that {@link FaultTarget} allows, by what kind of fault befalls them. */
export const faultTargets = {
  request: ['request', ...Object.keys(operations)],
  event: ['event', ...Object.keys(events)],
} as const;
