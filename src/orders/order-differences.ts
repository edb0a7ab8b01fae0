import type { KnownOrder } from '../deployment/same-order.ts';
import { storableText } from '../internal/driver-error.ts';

/** A member of an event that contradicts its order. Plain JSON. */
export interface OrderDifference {
  /** The member of the order; `order` if `sameOrder` of the deployment says that the event is of another order. */
  readonly member: DifferingMember;
  /** What was ordered; absent for an address. */
  readonly ordered?: string | undefined;
  /** What the event says instead, up to 100 characters; absent for an address. */
  readonly reported?: string | undefined;
}

export const differingMembers = [
  'buyer_crypto_address',
  'chain',
  'fiat_currency',
  'fiat_amount',
  'order',
] as const;
/** @inline */
export type DifferingMember = (typeof differingMembers)[number];

/** The members of an event that can contradict an order: any order event has them. */
export interface ComparedEvent {
  /** Its name: the chain of `buy.event.close` is not compared. */
  readonly event_name?: unknown;
  /** The address that the crypto is credited to. */
  readonly buyer_crypto_address?: unknown;
  /** The chain, in any spelling. */
  readonly chain?: unknown;
  /** The currency, in any spelling. */
  readonly fiat_currency?: unknown;
  /** The amount, as a number or as decimal text. */
  readonly fiat_amount_to_pay?: unknown;
}

/** The members of an order that an event can contradict: a `BuyOrder` has them. */
export interface ComparedOrder {
  /** As it was ordered. */
  readonly buyer_crypto_address?: unknown;
  /** As it was ordered. */
  readonly chain?: unknown;
  /** As it was ordered. */
  readonly fiat_currency?: unknown;
  /** As it was ordered: decimal text, or a number. */
  readonly fiat_amount?: unknown;
}

/**
 * Compares a verified event with the order that it names, for orders that you keep without a journal: a journal does the
 * same in `observe`.
 *
 * Another address differs, whatever its case if it is one of an EVM chain. Another chain or currency differs, without
 * regard to case, `-`, `_` and blanks; another amount differs by its value. A member that the event or the order lacks,
 * or that is not text (an amount: a number), differs in nothing. The chain of `buy.event.close` is not compared: the
 * contract gives that event another one than the order's (contract: Events).
 *
 * Act on no event with another address. Another chain or currency may be another spelling, and another amount may hold
 * fees (ledger: `event-matches-order`).
 *
 * @returns an empty list if nothing differs; no address is in it
 * @example
 * ```ts
 * webhooks.onAny(async (event) => {
 *   const differences = differencesFromOrder(event, await readOrder(event.partner_order_id));
 *   if (differences.length > 0) await alertSomebody(event.partner_order_id, differences);
 * });
 * ```
 */
export function differencesFromOrder(event: ComparedEvent, order: ComparedOrder): OrderDifference[] {
  const { buyer_crypto_address: address, chain, fiat_currency, fiat_amount } = order;
  return differencesFrom(event, {
    isAddress: (reported) => !isFilled(address) || comparedAddress(reported) === comparedAddress(address),
    ...(isFilled(chain) && { chain }),
    ...(isFilled(fiat_currency) && { fiat_currency }),
    ...((isFilled(fiat_amount) || typeof fiat_amount === 'number') && { fiat_amount: String(fiat_amount) }),
  });
}

export function differencesFrom(
  event: ComparedEvent,
  { isAddress, chain, fiat_currency, fiat_amount }: Omit<KnownOrder, 'partner_order_id'>,
): OrderDifference[] {
  const { buyer_crypto_address: address, fiat_amount_to_pay: amount } = event;
  const differences: OrderDifference[] = [];
  if (isFilled(address) && !isAddress(address)) differences.push({ member: 'buyer_crypto_address' });
  if (!isCloseEvent(event) && areDifferent(chain, event.chain, plainCode))
    differences.push(differenceOf('chain', chain, event.chain));
  if (areDifferent(fiat_currency, event.fiat_currency, plainCode))
    differences.push(differenceOf('fiat_currency', fiat_currency, event.fiat_currency));
  const paid = typeof amount === 'number' ? String(amount) : amount;
  if (areDifferent(fiat_amount, paid, plainAmount))
    differences.push(differenceOf('fiat_amount', fiat_amount, paid));
  return differences;
}

/** One text for all spellings of an address. */
export function comparedAddress(address: string): string {
  return /^0x[0-9a-f]{40}$/i.test(address) ? address.toLowerCase() : address;
}

/** Knows the event in any spelling of its name. */
function isCloseEvent({ event_name: name }: ComparedEvent): boolean {
  return typeof name === 'string' && name.toLowerCase().replace(/[\s_]/g, '.') === 'buy.event.close';
}

function areDifferent(ordered: unknown, reported: unknown, plain: (text: string) => string): boolean {
  return isFilled(ordered) && isFilled(reported) && plain(ordered) !== plain(reported);
}

function plainCode(code: string): string {
  return code.toLowerCase().replace(/[-_\s]/g, '');
}

function plainAmount(amount: string): string {
  const value = Number(amount);
  return Number.isFinite(value) ? String(value) : amount;
}

function differenceOf(
  member: OrderDifference['member'],
  ordered: unknown,
  reported: unknown,
): OrderDifference {
  return { member, ordered: shortText(ordered), reported: shortText(reported) };
}

const longestQuote = 100;

function shortText(value: unknown): string {
  return storableText(String(value).slice(0, longestQuote));
}

/** A text that is not empty. */
export function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
