import type { BuyOrder } from '../deployment/order-schema.ts';
import type { RequestError } from '../errors/request-error.ts';
import { warn } from '../errors/warn.ts';
import type { PreparedOrder } from '../exchange/prepared-order.ts';
import type { Reply } from '../http/reply.ts';
import type { JsonValue } from '../json/json-value.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { checkFunction, checkInteger, checkOneOf, invalidOption } from '../options/check-values.ts';
import { describeError } from '../redaction/describe-error.ts';
import { checkStore } from '../store/check-store.ts';
import type { RecordStore } from '../store/record-store.ts';

/** What a journal needs of an `ExchangeClient`. */
export interface OrderSender<Order = BuyOrder> {
  prepareOrder(order: Order, options?: { merchant?: string | undefined }): Promise<PreparedOrder>;
}

export interface OrderJournalOptions<Order = BuyOrder> {
  /** An `ExchangeClient`. A journal is for the orders of one partner. */
  exchange: OrderSender<Order>;
  /** Where the journal is kept. All processes that create orders, or receive their events, share it. */
  store: RecordStore;
  /**
   * Milliseconds after which a request without a result counts as `unknown`: its process died. Longer than the client's
   * `totalTimeoutMs`. @default 120000
   */
  leaseMs?: number | undefined;
  /**
   * What the service does with a second order that has the id of one before (ledger: `partner-order-id`). `unknown`: it
   * may make a second order of it, so an order whose outcome is unknown is never sent again. Only if you know: `refused`
   * (see `isDuplicate`), or `same-order`, the reply is that of the first. Then `create` sends such an order again, which
   * settles it.
   * @default 'unknown'
   */
  duplicateIds?: 'unknown' | 'refused' | 'same-order' | undefined;
  /**
   * With `duplicateIds: 'refused'`: whether the service refused an order because it has one with this id.
   * @default its status is 409 (assumed)
   */
  isDuplicate?: ((refusal: RequestError) => boolean) | undefined;
  /**
   * What to keep of a reply, as JSON of up to 16,384 characters, for `kept` of the order: such as the payment link. It
   * stays in the store as long as the order, so choose nothing personal. If it throws, that becomes a process warning.
   * @default nothing: a reply may repeat the buyer's data
   */
  keepReply?: ((reply: Reply) => JsonValue | undefined) | undefined;
  /**
   * Milliseconds to remember a settled order. After that its id may be ordered again, and its events are those of an
   * unknown order. @default for ever, about 500 bytes each
   */
  rememberMs?: number | undefined;
  /**
   * Called when the result of a request could not be written; `create` still returns or throws it, and the order becomes
   * `unknown` when its lease expires. @default a process warning
   */
  onStoreError?: ((error: unknown) => unknown) | undefined;
  /**
   * Milliseconds since 1970. Processes that share the store should agree on it to a few seconds: an order begun more than
   * a minute ahead of it counts as `unknown`, since the clock was set back. @default Date.now
   */
  now?: (() => number) | undefined;
  /** Begins the keys in the store: one for each partner. Printable ASCII, up to 200 characters. @default 'orders:' */
  prefix?: string | undefined;
}

type Optional = 'keepReply' | 'rememberMs';

/** The options, checked and with their defaults. */
export type ResolvedJournalOptions<Order> = {
  readonly [Name in Exclude<keyof OrderJournalOptions<Order>, Optional>]-?: Exclude<
    OrderJournalOptions<Order>[Name],
    undefined
  >;
} & { readonly [Name in Optional]: OrderJournalOptions<Order>[Name] };

const names: OptionNames<OrderJournalOptions> = {
  exchange: true,
  store: true,
  leaseMs: true,
  duplicateIds: true,
  isDuplicate: true,
  keepReply: true,
  rememberMs: true,
  onStoreError: true,
  now: true,
  prefix: true,
};

const defaults = Object.freeze({
  leaseMs: 120_000,
  duplicateIds: 'unknown',
  isDuplicate: ({ status }: RequestError) => status === 409,
  onStoreError: (error: unknown) =>
    warn(`The result of an order could not be written to the journal: ${describeError(error)}`),
  now: Date.now,
  prefix: 'orders:',
}) satisfies Partial<OrderJournalOptions>;

/** @throws {ConfigurationError} `invalid_option` */
export function resolveJournalOptions<Order>(
  options: OrderJournalOptions<Order>,
): ResolvedJournalOptions<Order> {
  checkNames('createOrderJournal', options, names);
  const { exchange, keepReply, rememberMs } = options;
  if (typeof exchange?.prepareOrder !== 'function')
    throw invalidOption('exchange must be an ExchangeClient.');
  const duplicateIds = checkOneOf('duplicateIds', options.duplicateIds ?? defaults.duplicateIds, [
    'unknown',
    'refused',
    'same-order',
  ]);
  if (options.isDuplicate !== undefined && duplicateIds !== 'refused')
    throw invalidOption("isDuplicate is for duplicateIds: 'refused'.");
  return Object.freeze({
    exchange,
    store: checkStore(options.store),
    leaseMs: checkInteger('leaseMs', options.leaseMs ?? defaults.leaseMs),
    duplicateIds,
    isDuplicate: checkFunction('isDuplicate', options.isDuplicate ?? defaults.isDuplicate),
    keepReply: keepReply && checkFunction('keepReply', keepReply),
    rememberMs: rememberMs === undefined ? undefined : checkInteger('rememberMs', rememberMs),
    onStoreError: checkFunction('onStoreError', options.onStoreError ?? defaults.onStoreError),
    now: checkFunction('now', options.now ?? defaults.now),
    prefix: checkPrefix(options.prefix ?? defaults.prefix),
  });
}

function checkPrefix(prefix: string): string {
  if (typeof prefix === 'string' && /^[\x21-\x7e]{1,200}$/.test(prefix)) return prefix;
  throw invalidOption('prefix must be 1 to 200 printable ASCII characters without blanks.');
}
