import { otherExample } from '../../../deployment/addresses/example-addresses.ts';
import { hash } from '../../../internal/hash.ts';
import type { JsonValue } from '../../../internal/json.ts';
import type { EventFaultName } from '../settings/event-faults.ts';
import type { EventFault } from '../settings/faults.ts';
import type { SandboxCredentials } from '../settings/fixed-partners.ts';
import type { EventSpelling } from '../settings/sandbox-options.ts';
import type { SeededRandom } from '../settings/seeded-random.ts';
import {
  foreignKey,
  sellSideEvent,
  sellSideNames,
  tamperedText,
  unfamiliarEvent,
  withExtraMembers,
} from '../wire/event-text.ts';
import {
  changeMember,
  type EventDraft,
  type MemberChangeName,
  memberPaths,
  setMember,
} from '../wire/member-changes.ts';
import type { DeliverySchedule } from '../world/delivery.ts';
import type { Partner } from '../world/partner-registry.ts';

/** How the event of an order is written, signed and posted. */
export interface EventPlan extends SignedDraft {
  readonly partner: Partner;
  readonly schedule: DeliverySchedule;
  /** Whether the order's reply waits for the answer to this event. */
  readonly isBeforeReply: boolean;
  /** Events that faults post before this one. */
  readonly others: readonly (SignedDraft & { readonly fault: EventFaultName })[];
}

/** An event before it is signed. */
export interface SignedDraft {
  readonly draft: EventDraft;
  readonly spelling: EventSpelling;
  readonly credentials: SandboxCredentials;
  /** Signs in place of the order's key in `credentials`. */
  readonly key?: string;
  /** Changes the signed text. */
  readonly tamper?: (text: string) => string;
}

/** The plan after a fault. */
type EventPlay = (plan: EventPlan, fault: EventFault, random: SeededRandom) => EventPlan;

/** Every fault of an event. A later one overrides an earlier one. */
export const eventPlays: Readonly<Record<EventFaultName, EventPlay>> = {
  duplicate: scheduled(() => ({ copies: 'duplicate' })),
  concurrent_duplicate: scheduled(() => ({ copies: 'concurrent_duplicate' })),
  reorder: scheduled(() => ({ isHeld: true })),
  delay: scheduled(({ delayMs }) => ({ delayMs })),
  drop: scheduled(() => ({ isDropped: true })),
  before_reply: (plan) => ({ ...plan, isBeforeReply: true }),
  old_key: (plan) => ({ ...plan, credentials: plan.partner.earlier?.[0]?.credentials ?? plan.credentials }),
  forged: preceded((_, random) => ({ key: foreignKey(random) })),
  tampered: preceded(() => ({ tamper: tamperedText })),
  unfamiliar_name: preceded(({ draft }) => ({ draft: { ...draft, body: unfamiliarEvent(draft.body) } })),
  extra_members: changed((draft) => ({ ...draft, body: withExtraMembers(draft.body) })),
  awkward_spelling: (plan) => ({ ...plan, spelling: 'awkward' }),
  member_missing: changesTo('missing'),
  member_null: changesTo('null'),
  member_type: changesTo('text', 'number', 'boolean', 'list'),
  member_renamed: changesTo('renamed'),
  member_nested: changesTo('nested'),
  member_long: changesTo('long'),
  member_repeated: changesTo('repeated'),
  status_respelled: changed((draft, { member }, random) => {
    const statuses = memberPaths(draft.body).filter((path) => statusMembers.includes(path));
    return changeMember(draft, member ?? random.pick(statuses) ?? '', 'respelled');
  }),
  name_respelled: changed((draft, _, random) => {
    const name = String(draft.body.event_name);
    const spellings = [name.replaceAll('.', ' '), name.toUpperCase(), name.replaceAll('.', '_')];
    return setMember(draft, 'event_name', random.pick(spellings) ?? name);
  }),
  credits_elsewhere: contradicting('buyer_crypto_address', otherAddress),
  other_chain: contradicting('chain', (chain) => (chain === 'usdt-trc20' ? 'usdc-matic' : 'usdt-trc20')),
  other_currency: contradicting('fiat_currency', (currency) => (currency === 'NGN' ? 'GHS' : 'NGN')),
  amount_differs: contradicting('fiat_amount_to_pay', otherAmount),
  sell_side: preceded(({ draft: { body } }, random) => ({
    draft: { body: sellSideEvent(body, random.pick(sellSideNames) ?? ''), repeated: [] },
  })),
};

function scheduled(schedule: (fault: EventFault) => DeliverySchedule): EventPlay {
  return (plan, fault) => ({ ...plan, schedule: { ...plan.schedule, ...schedule(fault) } });
}

function changed(
  change: (draft: EventDraft, fault: EventFault, random: SeededRandom) => EventDraft,
): EventPlay {
  return (plan, fault, random) => ({ ...plan, draft: change(plan.draft, fault, random) });
}

/** Posts a changed copy before the event. */
function preceded(copy: (event: SignedDraft, random: SeededRandom) => Partial<SignedDraft>): EventPlay {
  return (plan, { kind }, random) => {
    const { draft, spelling, credentials } = plan;
    const event = { draft, spelling, credentials };
    return { ...plan, others: [...plan.others, { ...event, ...copy(event, random), fault: kind }] };
  };
}

/** Changes one member of an event that repeats what was ordered. */
function contradicting(member: string, change: (value: JsonValue) => JsonValue): EventPlay {
  return changed((draft) => {
    const { [member]: value } = draft.body;
    return value === undefined || value === null ? draft : setMember(draft, member, change(value));
  });
}

/** One more, where a service that writes amounts in its own way has left a number. */
function otherAmount(amount: JsonValue): JsonValue {
  const other = Number(amount) + 1;
  return Number.isFinite(other) ? other : amount;
}

/** An address of the same form without an owner; another text where its form is not known. */
function otherAddress(address: JsonValue): JsonValue {
  const text = String(address);
  if (text.startsWith('0x')) return `0x${hash('sha256', text, 'hex').slice(0, 40)}`;
  const other = text.startsWith('T') ? otherExample(text) : undefined;
  return other ?? `${text.slice(0, -1)}${text.endsWith('2') ? '3' : '2'}`;
}

const statusMembers: readonly string[] = [
  'fiat_payment_status',
  'crypto_payment_status',
  'kyc_error_type',
  'meta_data.status',
];

/** Changes the member that the fault names, or any one that is not of this type already. */
function changesTo(...changes: readonly [MemberChangeName, ...MemberChangeName[]]): EventPlay {
  return changed((draft, { member }, random) => {
    const path = member ?? random.pick(memberPaths(draft.body)) ?? '';
    const change = random.pick(changes) ?? changes[0];
    const reshaped = changeMember(draft, path, change);
    if (reshaped === draft || changes.length === 1) return reshaped;
    // A text as a text has not changed its type.
    const [documented, other] = [draft, reshaped].map(({ body }) => JSON.stringify(body));
    return documented === other ? changeMember(draft, path, 'list') : reshaped;
  });
}
