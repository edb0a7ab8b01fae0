import type { PreparedOrder } from '../client/prepared-order.ts';
import { checkDuplicateIds, type DuplicateIds } from '../deployment/learnt-deployment.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import type { SameOrder } from '../deployment/same-order.ts';
import {
  callback,
  checkInteger,
  defineOptions,
  integer,
  invalidOption,
  type OptionTable,
  oneOf,
  optional,
  value,
} from '../internal/options.ts';
import { warnOnce } from '../internal/warn.ts';
import { checkPrefix, checkStore, type RecordStore } from '../store/record-store.ts';
import type { JournaledEvent, JournaledOrder } from './journaled-order.ts';

/** The part of an `ExchangeClient` that a journal needs. */
export interface OrderSender<Order = BuyOrder> {
  /** Checks and signs an order: `prepareOrder` of `ExchangeClient`. */
  prepareOrder(
    order: Order,
    options?: { merchant?: string | undefined; acceptAddress?: string | undefined },
  ): Promise<PreparedOrder>;
  /** The longest call of the client, in milliseconds. */
  readonly totalTimeoutMs?: number | undefined;
  /** Its `sameOrder` compares events with their orders, its `duplicateIds` is a default. */
  readonly deployment?:
    | { readonly sameOrder?: SameOrder | undefined; readonly duplicateIds?: DuplicateIds | undefined }
    | undefined;
}

/** Options of {@link createOrderJournal}. */
export interface OrderJournalOptions<Order = BuyOrder> {
  /** An `ExchangeClient`. A journal is for the orders of one partner. */
  exchange: OrderSender<Order>;
  /** Keeps the journal. All processes that create orders or receive their events share it. */
  store: RecordStore;
  /**
   * Milliseconds after which a request without a result counts as `unknown`: its process died. It has to be longer than
   * the client's `totalTimeoutMs`. @default 120000
   */
  leaseMs?: number | undefined;
  /**
   * How the service treats a second order with the same id (ledger: `partner-order-id`). `unknown`: it may create a second
   * one, so an order whose outcome is unknown is never sent again. Change this only if you know: then `create` sends such
   * an order again, which settles it. A status that says anything else too is no sign of a duplicate.
   * @default `duplicateIds` of the deployment, which is `'unknown'` unless set
   */
  duplicateIds?: DuplicateIds | undefined;
  /**
   * Milliseconds to remember a settled order. After that its id may be ordered again, and its events are those of an
   * unknown order. @default for ever, about 1,400 bytes each
   */
  rememberMs?: number | undefined;
  /**
   * Milliseconds after which `unsettled` lists an accepted order too whose first event has not come, for 30 days.
   * `false`: never, for a journal that observes no events. @default 3600000, an hour
   */
  firstEventWithinMs?: number | false | undefined;
  /**
   * Called when an event, a person (`settle`) or the loop of `start` has made an order `accepted`, `refused` or
   * `abandoned`: no caller waits for that result. If it fails or the process dies, the loop calls it again. So it may be
   * called more than once, and after a later result of `create`: write the state where its `revision` is greater.
   *
   * Give it to all journals over one store or to none; one without it, such as that of a terminal, leaves the report to a
   * loop that has it. @default nothing
   */
  onSettled?: ((order: JournaledOrder) => unknown) | undefined;
  /**
   * Which events `observe` rejects as `order_mismatch`: those with another address than the order's, those with any
   * difference, or none. The others are recorded, and pass: a chain or a currency may have another spelling, and an amount
   * may hold fees. @default 'address' (ledger: `event-matches-order`)
   */
  rejectMismatch?: 'address' | 'any' | 'never' | undefined;
  /**
   * Called when an event differs from its order, rejected or not, until a person decides about it (`settle`): again for
   * each repetition. Nothing waits for it. @default one process warning
   */
  onMismatch?: ((order: JournaledOrder, event: JournaledEvent) => unknown) | undefined;
  /**
   * Milliseconds since 1970. Processes that share the store should agree on it to a few seconds: an order begun more than
   * a minute ahead of it counts as `unknown`. @default Date.now
   */
  now?: (() => number) | undefined;
  /** Start of the keys in the store, one for each partner. Printable ASCII, up to 200 characters. @default 'orders:' */
  prefix?: string | undefined;
}

/** Begins the keys of a journal whose user names no other. */
export const journalPrefix = 'orders:';

const readOptions = defineOptions('createOrderJournal', {
  exchange: (given) => {
    // Sound as far as it can be: of a function only its being one can be checked.
    const exchange = given as OrderSender<never>;
    if (typeof exchange?.prepareOrder === 'function') return exchange;
    throw invalidOption('exchange must be an ExchangeClient.');
  },
  store: checkStore,
  leaseMs: integer({ default: 120_000 }),
  duplicateIds: optional(checkDuplicateIds),
  rememberMs: optional(integer()),
  firstEventWithinMs: value((given, name) => (given === false ? undefined : checkInteger(name, given)), {
    default: 3_600_000,
  }),
  onSettled: optional(callback()),
  rejectMismatch: oneOf(['address', 'any', 'never'], { default: 'address' }),
  onMismatch: callback<NonNullable<OrderJournalOptions['onMismatch']>>({
    default: () =>
      warnOnce(
        'An authentic event differs from its order: somebody may be paid who was not meant. Look into the orders that `order list --attention` and `list({ attention: true })` of the journal show.',
      ),
  }),
  now: callback({ default: Date.now }),
  prefix: value(checkPrefix, { default: journalPrefix }),
} satisfies OptionTable<OrderJournalOptions<never>>);

export type JournalSettings = ReturnType<typeof readJournalOptions>;

/** @throws {ConfigurationError} `invalid_option` */
export function readJournalOptions(options: OrderJournalOptions<never>) {
  const settings = readOptions(options);
  const { leaseMs, exchange } = settings;
  const { totalTimeoutMs = 0 } = exchange;
  if (leaseMs <= totalTimeoutMs)
    throw invalidOption(
      `leaseMs (${leaseMs}) must be longer than totalTimeoutMs of the client (${totalTimeoutMs}): otherwise a request that is still under way counts as unknown.`,
    );
  const duplicateIds = settings.duplicateIds ?? exchange.deployment?.duplicateIds ?? 'unknown';
  return {
    ...settings,
    /** Whether an order whose outcome is unknown may be sent again. */
    resendUnknown: duplicateIds !== 'unknown',
    duplicateStatuses: statusesOf(duplicateIds),
    // A clock may have fractions; the times of records have none.
    now: () => Math.floor(settings.now()),
  } as const;
}

function statusesOf(duplicateIds: DuplicateIds): readonly number[] {
  if (typeof duplicateIds === 'object') return duplicateIds.refused;
  return duplicateIds === 'refused' ? [409] : [];
}
