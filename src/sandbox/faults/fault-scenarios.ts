import type { EventFaultName, FaultDetails, FaultTime, RequestFaultName } from './fault-table.ts';

/** How often a fault strikes: a probability from 0 to 1, alone or with the fault's details. */
export type FaultRate =
  | number
  | ({ readonly probability: number; readonly when?: FaultTime | undefined } & FaultDetails);

/**
 * How often each fault of a request strikes. Where it can strike before or after the effect and `when` is not given, the
 * seed decides each time.
 */
export type RequestFaultRates = { readonly [Name in RequestFaultName]?: FaultRate | undefined };
/** How often each fault of an event strikes. */
export type EventFaultRates = { readonly [Name in EventFaultName]?: FaultRate | undefined };
export type FaultRates = RequestFaultRates & EventFaultRates;

/**
 * Named sets of rates:
 *
 * - `calm`: no faults
 * - `bad_network`: connections that break before, between and within
 * - `lost_replies`: the service acts, and the caller does not hear of it
 * - `slow`: replies that stall or trickle
 * - `rate_limited`: 429 with Retry-After
 * - `bad_gateway`: pages, redirects and statuses of a gateway, before and after the effect
 * - `outage`: 503 to everything
 * - `repeated_events`: duplicates, also at the same time
 * - `shuffled_events`: events out of order, late, or before the order's reply
 * - `lost_events`: events that are never posted
 * - `attacked`: forged and tampered events among the genuine ones
 * - `strange_events`: names, members and spellings that are not published
 * - `hostile`: everything at once, but nothing that loses an event for good or stalls
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

export type FaultScenario = keyof typeof faultScenarios;
