import type { AssumptionId } from '../../src/deployment/assumptions.ts';
import { type SeededRandom, seededRandom } from '../../src/devtools/sandbox/settings/seeded-random.ts';
import { changeMember, memberChangeNames } from '../../src/devtools/sandbox/wire/member-changes.ts';
import { orderEventNames } from '../../src/events/event-names.ts';
import { defaultScheme } from '../../src/signature/signature-scheme.ts';
import { faultsAt } from '../support/fault-rates.ts';
import { dimensions, type ServiceOptions, type Trait } from './service-traits.ts';

/** A point in which drawn services differ: `members` is the form of single members of events. */
export type ServiceDimension = keyof typeof dimensions | 'members';

// Sound: the keys of the table, and the one that is drawn otherwise.
export const serviceDimensions = [...Object.keys(dimensions), 'members'] as readonly ServiceDimension[];

/** A service that the contract allows, with guesses other than ours. */
export interface DrawnService {
  /** Draws the same service again. */
  readonly seed: string;
  /** For `createSandbox`: add what is yours, such as `fetch` and `partners`. */
  readonly options: ServiceOptions;
  /**
   * The rows of the ledger that do not hold in this service. What fails because of it should name one of them in
   * `assumptions`.
   */
  readonly assumptions: readonly AssumptionId[];
  /** The points in which it is not as documented or assumed, each with the rows that do not hold because of it. */
  readonly differences: Readonly<Partial<Record<ServiceDimension, readonly AssumptionId[]>>>;
}

/**
 * Draws a service at random from everything that the ledger leaves open: how it signs, what it replies and refuses, the
 * form, the order and the repetition of its events, what happens to events that nobody acknowledges, when keys die. A
 * client or receiver that works with a thousand of them does not rest on our guesses.
 *
 * The same seed draws the same service. Each point is drawn for itself: a further one changes no other.
 *
 * @param asDocumented points that stay as documented, such as those that your deployment says already
 */
export function drawService(
  seed: string | number,
  { asDocumented = [] }: { readonly asDocumented?: readonly ServiceDimension[] } = {},
): DrawnService {
  const drawn = serviceDimensions.map((dimension) => {
    const random = seededRandom(String(seed), `service ${dimension}`);
    return { dimension, ...drawTrait(dimension, random, asDocumented.includes(dimension)) };
  });
  return {
    seed: String(seed),
    options: merged(drawn.map(({ trait }) => trait.options)),
    assumptions: [...new Set(drawn.flatMap(({ trait }) => trait.broken ?? []))],
    differences: Object.fromEntries(
      drawn.filter(({ differs }) => differs).map(({ dimension, trait }) => [dimension, trait.broken ?? []]),
    ),
  };
}

/** The share of points in which a service differs. If it differed in all of them, no call would succeed. */
const differenceRate = 0.3;

function drawTrait(
  dimension: ServiceDimension,
  random: SeededRandom,
  isDocumented: boolean,
): { readonly trait: Trait; readonly differs: boolean } {
  const isOtherwise = random.chance(differenceRate) && !isDocumented;
  if (dimension === 'members')
    return { trait: isOtherwise ? drawMembers(random) : { options: {} }, differs: isOtherwise };
  const [usual, ...others]: readonly [Trait, ...Trait[]] = dimensions[dimension];
  const other = random.pick(others);
  return isOtherwise && other !== undefined
    ? { trait: other, differs: true }
    : { trait: usual, differs: false };
}

/** One to three members, each in one event or in all, in another form. */
function drawMembers(random: SeededRandom): Trait {
  const count = 1 + Math.floor(random.fraction() * 3);
  const parts = Array.from({ length: count }, (): ServiceOptions => {
    const member = random.pick(eventMembers) ?? 'event_name';
    const change = random.pick(memberChangeNames) ?? 'missing';
    const event = random.chance(0.5) ? undefined : random.pick(orderEventNames);
    // A body cannot have a member twice, but its text can.
    if (change === 'repeated') return { faults: faultsAt('event', { member_repeated: { rate: 1, member } }) };
    return {
      event: (body, name) =>
        event === undefined || event === name
          ? changeMember({ body, repeated: [] }, member, change).body
          : body,
    };
  });
  const faults = parts.flatMap((part) => part.faults ?? []);
  return { options: { faults, ...hooksOf(parts) }, broken: ['event-shape'] };
}

/** The members of all events, then those of some. */
const eventMembers = [
  ...[
    'event_name',
    'partner_order_id',
    'platform_order_ref',
    'fiat_amount_to_pay',
    'crypto_amount_to_receive',
  ],
  ...['exchange_rate', 'pair', 'fiat_currency', 'buyer_crypto_address', 'chain', 'fiat_payment_status'],
  ...['crypto_payment_status', 'payer_into_account', 'payer_into_account.account_name'],
  ...['payer_into_account.account_number', 'payer_into_account.bank_name', 'payment_link', 'crypto_txn_hash'],
  ...['partner_callback_url', 'transactional_kyc', 'transactional_kyc.email', 'transactional_kyc.phone'],
  ...['transactional_kyc.first_name', 'transactional_kyc.last_name', 'created_at', 'sender_name'],
  ...['default_kyc_url', 'message', 'kyc_error_type', 'meta_data', 'meta_data.status', 'meta_data.message'],
  ...['meta_data.refund_account', 'meta_data.amount_refunded', 'meta_data.fee'],
] as const;

/** Objects member by member, hooks one after another. */
function merged(parts: readonly ServiceOptions[]): ServiceOptions {
  const deployments = parts.flatMap(({ deployment }) => deployment ?? []);
  return {
    ...Object.assign({}, ...parts),
    faults: parts.flatMap(({ faults }) => faults ?? []),
    deployment: {
      ...Object.assign({}, ...deployments),
      paths: Object.assign({}, ...deployments.map(({ paths }) => paths)),
      signature: Object.assign({}, defaultScheme, ...deployments.map(({ signature }) => signature)),
    },
    ...hooksOf(parts),
  };
}

function hooksOf(parts: readonly ServiceOptions[]): Pick<ServiceOptions, 'event' | 'reply'> {
  const events = parts.flatMap(({ event }) => event ?? []);
  const replies = parts.flatMap(({ reply }) => reply ?? []);
  return {
    event: (body, name) => events.reduce((changed, event) => event(changed, name), body),
    reply: (own, operation) => replies.reduce((changed, reply) => reply(changed, operation), own),
  };
}
