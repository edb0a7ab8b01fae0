import { ValidationError } from '../../../errors/errors.ts';
import type { JsonObject } from '../../../internal/json.ts';
import type { SandboxSettings } from '../settings/sandbox-options.ts';
import { randomToken } from '../wire/sandbox-secrets.ts';

/** The last orders, by the service's reference. */
export class OrderRegistry {
  readonly #options: SandboxSettings;
  readonly #orders = new Map<string, SandboxOrder>();
  /** The references for each `partner_order_id`: several partners may use the same one. */
  readonly #refs = new Map<string, string[]>();
  #numbers = 0;

  constructor(options: SandboxSettings) {
    this.#options = options;
  }

  get all(): readonly SandboxOrder[] {
    return [...this.#orders.values()];
  }

  nextNumber(): number {
    this.#numbers += 1;
    return this.#numbers;
  }

  existing(order: Pick<SandboxOrder, 'partnerId' | 'partner_order_id'>): SandboxOrder | undefined {
    return this.#named(order.partner_order_id).find(({ partnerId }) => partnerId === order.partnerId);
  }

  add(order: SandboxOrder): void {
    const { partner_order_id: own, platform_order_ref: ref } = order;
    this.save(order);
    const refs = this.#refs.get(own);
    if (refs === undefined) this.#refs.set(own, [ref]);
    else refs.push(ref);
    this.#forgetBeyondLimit();
  }

  /** @throws {ValidationError} unless exactly one order has this name */
  find(name: string): SandboxOrder {
    const byRef = this.#orders.get(name);
    if (byRef !== undefined) return byRef;
    const [only, ...others] = this.#named(name);
    if (only === undefined) {
      throw invalidOrder('is neither the partner_order_id nor the platform_order_ref of a remembered order');
    }
    if (others.length > 0) throw invalidOrder('is used by several orders: give the platform_order_ref');
    return only;
  }

  /** The order after a step, which {@link save} keeps. @throws {ValidationError} if the step cannot follow */
  next(
    name: string,
    step: SandboxOrderStep,
    transitions: 'checked' | 'any' = this.#options.orderTransitions,
  ): SandboxOrder {
    const order = this.find(name);
    const possible = stepsAfter(order.state, transitions);
    if (!possible.includes(step)) {
      const message = `cannot follow "${order.state}", which is followed by ${possible.join(', ') || 'nothing'}`;
      throw new ValidationError('advance', [{ path: ['step'], message }]);
    }
    return Object.freeze({ ...order, state: step, ...this.#changes(step) });
  }

  clear(): void {
    this.#orders.clear();
    this.#refs.clear();
    this.#numbers = 0;
  }

  save(order: SandboxOrder): void {
    this.#orders.set(order.platform_order_ref, order);
  }

  #forgetBeyondLimit(): void {
    for (const { partner_order_id: own, platform_order_ref: ref } of this.#orders.values()) {
      if (this.#orders.size <= this.#options.maxRemembered) return;
      this.#orders.delete(ref);
      const others = (this.#refs.get(own) ?? []).filter((other) => other !== ref);
      if (others.length > 0) this.#refs.set(own, others);
      else this.#refs.delete(own);
    }
  }

  #changes(step: SandboxOrderStep): Partial<SandboxOrder> {
    switch (step) {
      case 'credited':
        return {
          fiat_payment_status: 'PAID',
          crypto_payment_status: 'PAID',
          crypto_txn_hash: `0x${randomToken(this.#options.random, 32)}`,
        };
      // The contract does not fix these values in the close event: they stay as they are.
      case 'refunded':
        return {};
      case 'fiat_received':
      case 'no_kyc':
      case 'third_party_payment':
      case 'third_party_error':
        return { fiat_payment_status: 'PAID', crypto_payment_status: 'STARTED' };
    }
  }

  #named(partnerOrderId: string): SandboxOrder[] {
    return (this.#refs.get(partnerOrderId) ?? []).flatMap((ref) => this.#orders.get(ref) ?? []);
  }
}

function invalidOrder(message: string): ValidationError {
  return new ValidationError('advance', [{ path: ['order'], message }]);
}

/** A snapshot of an order. Members that the contract has keep its names. */
export interface SandboxOrder {
  /** The partner that created it. */
  readonly partnerId: string;
  /** The order's id in the partner's system. */
  readonly partner_order_id: string;
  /** The order's reference on the service. */
  readonly platform_order_ref: string;
  /** Its last step. */
  readonly state: SandboxOrderState;
  /** Decimal text, exactly as ordered, in units of `fiat_currency`. */
  readonly fiat_amount: string;
  /** Decimal text, units of `fiat_currency` for one unit of the crypto currency. */
  readonly exchange_rate: string;
  /** In units of the crypto currency of `pair`. */
  readonly crypto_amount_to_receive: number;
  /** `<FIAT>/<CRYPTO>` */
  readonly pair: string;
  /** As ordered. */
  readonly fiat_currency: string;
  /** As ordered. */
  readonly chain: string;
  /** As ordered. */
  readonly buyer_crypto_address: string;
  /** As in its last event. */
  readonly fiat_payment_status: string;
  /** As in its last event. */
  readonly crypto_payment_status: string;
  /** The account that the buyer pays into. */
  readonly payer_into_account: {
    readonly account_name: string;
    readonly account_number: string;
    readonly bank_name: string;
  };
  /** Where the buyer pays by mobile money; `null` for other ways of payment. */
  readonly payment_link: string | null;
  /** `null` until the crypto is credited. */
  readonly crypto_txn_hash: string | null;
  /** Where its events are posted. */
  readonly partner_callback_url: string;
  /** The buyer's data for KYC; empty strings where nothing was given. */
  readonly transactional_kyc: {
    readonly email: string;
    readonly phone: string;
    readonly first_name: string;
    readonly last_name: string;
  };
  /** Empty when the order has none. */
  readonly refund_account: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** The body of the order as received, with the published names and without its signature. */
  readonly payload: JsonObject;
}

export const orderSteps = [
  'fiat_received',
  'no_kyc',
  'third_party_payment',
  'third_party_error',
  'credited',
  'refunded',
] as const;

/**
 * The steps of an order after its creation, and the event of each:
 *
 * - `fiat_received`: `event.buy.received.fiat`
 * - `no_kyc`: `event.buy.received.fiat_kyc_error` with `NO_KYC` and an address for KYC
 * - `third_party_payment`: `event.buy.received.fiat_kyc_error` with the third-party value
 * - `third_party_error`: `event.buy.third_party_error`
 * - `credited`: `event.buy.credited.crypto`
 * - `refunded`: `buy.event.close`
 * @useDeclaredType
 */
export type SandboxOrderStep = (typeof orderSteps)[number];

/** The last step of an order. @inline */
export type SandboxOrderState = 'created' | SandboxOrderStep;

/** A held payment is accepted, held for another reason, credited, or refunded. */
const afterHold = ['fiat_received', 'credited', 'refunded'] as const;

/** The sandbox's choice: the contract shows no transitions. */
const nextSteps = {
  created: ['fiat_received', 'no_kyc', 'third_party_payment', 'third_party_error'],
  fiat_received: ['no_kyc', 'third_party_payment', 'third_party_error', 'credited', 'refunded'],
  no_kyc: ['third_party_payment', 'third_party_error', ...afterHold],
  third_party_payment: ['no_kyc', 'third_party_error', ...afterHold],
  third_party_error: ['no_kyc', 'third_party_payment', ...afterHold],
  credited: [],
  refunded: [],
} as const satisfies Record<SandboxOrderState, readonly SandboxOrderStep[]>;

export function stepsAfter(
  state: SandboxOrderState,
  transitions: 'checked' | 'any',
): readonly SandboxOrderStep[] {
  if (transitions === 'checked') return nextSteps[state];
  return orderSteps.filter((step) => step !== state);
}
