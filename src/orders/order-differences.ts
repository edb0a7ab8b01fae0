import type { KnownOrder } from '../deployment/same-order.ts';
import { storableText } from '../internal/driver-error.ts';

/** A member of an event that contradicts its order. Plain JSON. */
export interface OrderDifference {
  /** The member of the order; `order` if `sameOrder` of the deployment says that the event is of another order. */
  readonly member: 'buyer_crypto_address' | 'chain' | 'fiat_currency' | 'fiat_amount' | 'order';
  /** What was ordered; absent for an address. */
  readonly ordered?: string | undefined;
  /** What the event says instead, up to 100 characters; absent for an address. */
  readonly reported?: string | undefined;
}

/** The members of an event that can contradict its order: any order event has them. */
type ComparedEvent = Partial<
  Record<'event_name' | 'buyer_crypto_address' | 'chain' | 'fiat_currency' | 'fiat_amount_to_pay', unknown>
>;

/**
 * Compares an event with its order. Another address differs, whatever its case if it is one of an EVM chain. Another chain
 * or currency differs, without regard to case, `-`, `_` and blanks; another amount differs by its value. A member that the
 * event or the order lacks, or that is not text (an amount: a number), differs in nothing.
 */
export function differencesFrom(
  event: ComparedEvent,
  { isAddress, ...order }: Omit<KnownOrder, 'partner_order_id'>,
): OrderDifference[] {
  const { buyer_crypto_address: address, chain, fiat_currency, fiat_amount_to_pay: amount } = event;
  const compared = [
    // The contract gives the close event another chain than the order's (contract: Events).
    ['chain', isCloseEvent(event) ? undefined : chain, plainCode],
    ['fiat_currency', fiat_currency, plainCode],
    ['fiat_amount', typeof amount === 'number' ? String(amount) : amount, plainAmount],
  ] as const;
  const differences = compared.flatMap(([member, reported, plain]): OrderDifference[] => {
    const ordered = order[member];
    if (!isFilled(ordered) || !isFilled(reported) || plain(ordered) === plain(reported)) return [];
    return [{ member, ordered: shortText(ordered), reported: shortText(reported) }];
  });
  const isElsewhere = isFilled(address) && !isAddress(address);
  return isElsewhere ? [{ member: 'buyer_crypto_address' }, ...differences] : differences;
}

/** One text for all spellings of an address. */
export function comparedAddress(address: string): string {
  return /^0x[0-9a-f]{40}$/i.test(address) ? address.toLowerCase() : address;
}

/** Knows the event in any spelling of its name. */
function isCloseEvent({ event_name: name }: ComparedEvent): boolean {
  return typeof name === 'string' && name.toLowerCase().replace(/[\s_]/g, '.') === 'buy.event.close';
}

function plainCode(code: string): string {
  return code.toLowerCase().replace(/[-_\s]/g, '');
}

function plainAmount(amount: string): string {
  const value = Number(amount);
  return Number.isFinite(value) ? String(value) : amount;
}

function shortText(text: string): string {
  return storableText(text.slice(0, 100));
}

/** A text that is not empty. */
export function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
