import type { DenialForm, ReplyForm } from './reply-forms.ts';

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
  /** The body of a reply: a {@link ReplyForm}, or for `ok_with_error` a {@link DenialForm}. */
  readonly form?: ReplyForm | DenialForm | undefined;
  /** The path of the member of an event: `payer_into_account.bank_name`. */
  readonly member?: string | undefined;
}

interface EventFaultRules {
  readonly details: FaultDetails;
  /** Whether a receiver must refuse the event: the service did not send it. @default false */
  readonly isForgery?: true;
}

/**
 * Every fault of an event, with its details; `eventPlays` plays each. docs/details/sandbox.md says what each one does.
 */
export const eventFaults = {
  duplicate: { details: {} },
  concurrent_duplicate: { details: {} },
  reorder: { details: {} },
  delay: { details: { delayMs: 1000 } },
  drop: { details: {} },
  before_reply: { details: {} },
  old_key: { details: {} },
  forged: { details: {}, isForgery: true },
  tampered: { details: {}, isForgery: true },
  unfamiliar_name: { details: {} },
  extra_members: { details: {} },
  awkward_spelling: { details: {} },
  member_missing: { details: { member: undefined } },
  member_null: { details: { member: undefined } },
  member_type: { details: { member: undefined } },
  member_renamed: { details: { member: undefined } },
  member_nested: { details: { member: undefined } },
  member_long: { details: { member: undefined } },
  member_repeated: { details: { member: undefined } },
  status_respelled: { details: { member: undefined } },
  name_respelled: { details: {} },
  sell_side: { details: {} },
  credits_elsewhere: { details: {} },
  other_chain: { details: {} },
  other_currency: { details: {} },
  amount_differs: { details: {} },
} as const satisfies Record<string, EventFaultRules>;

/** @inline */
export type EventFaultName = keyof typeof eventFaults;

// Sound: the keys of the table.
export const eventFaultNames = Object.keys(eventFaults) as EventFaultName[];

/** The faults that a receiver must refuse. */
export const forgeries: readonly EventFaultName[] = eventFaultNames.filter(
  (name) => 'isForgery' in eventFaults[name],
);

/** Whether an event was posted as an attacker would: a receiver must refuse it. */
export function isForgery({ faults }: { readonly faults: readonly string[] }): boolean {
  return forgeries.some((name) => faults.includes(name));
}
