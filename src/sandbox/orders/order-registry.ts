import { ValidationError } from '../../errors/validation-error.ts';
import { Refusal } from '../http/refusal.ts';
import type { ResolvedSandboxOptions } from '../sandbox-options.ts';
import { randomToken } from '../secrets.ts';
import { checkStep, type SandboxOrderState, type SandboxOrderStep } from './order-steps.ts';
import type { SandboxOrder } from './sandbox-order.ts';

/** The orders of a sandbox, by the service's reference. */
export class OrderRegistry {
  readonly #options: ResolvedSandboxOptions;
  readonly #orders = new Map<string, SandboxOrder>();
  /** The service's reference for each partner's own order id. */
  readonly #refs = new Map<string, string>();
  #numbers = 0;

  constructor(options: ResolvedSandboxOptions) {
    this.#options = options;
  }

  get all(): readonly SandboxOrder[] {
    return [...this.#orders.values()];
  }

  /** A number that no other order has. */
  nextNumber(): number {
    this.#numbers += 1;
    return this.#numbers;
  }

  add(order: SandboxOrder): void {
    const own = JSON.stringify([order.partnerId, order.partner_order_id]);
    if (this.#refs.has(own)) {
      throw new Refusal(409, 'order_exists', 'There is an order with this partner_order_id.');
    }
    this.#refs.set(own, order.platform_order_ref);
    this.#orders.set(order.platform_order_ref, order);
  }

  /** Moves an order on and returns its new state. @throws {ValidationError} if the step cannot follow */
  advance(name: string, step: SandboxOrderStep): SandboxOrder {
    const before = this.#find(name);
    checkStep(before.state, step);
    const order = Object.freeze({ ...before, state: step, ...this.#changes(step) });
    this.#orders.set(order.platform_order_ref, order);
    return order;
  }

  #changes(state: Exclude<SandboxOrderState, 'created'>): Partial<SandboxOrder> {
    switch (state) {
      case 'credited':
        return {
          fiat_payment_status: 'PAID',
          crypto_payment_status: this.#options.settledCryptoStatus,
          crypto_txn_hash: `0x${randomToken(this.#options.random, 32)}`,
        };
      // The contract does not fix the values of the close event: the sandbox keeps those before.
      case 'refunded':
        return {};
      default:
        return { fiat_payment_status: 'PAID', crypto_payment_status: 'STARTED' };
    }
  }

  #find(name: string): SandboxOrder {
    const byRef = this.#orders.get(name);
    if (byRef !== undefined) return byRef;
    const [only, ...others] = this.all.filter((order) => order.partner_order_id === name);
    if (only === undefined) throw invalidOrder('is neither a partner_order_id nor a platform_order_ref');
    if (others.length > 0) throw invalidOrder('is used by several partners: give the platform_order_ref');
    return only;
  }
}

function invalidOrder(message: string): ValidationError {
  return new ValidationError('advance', [{ path: ['order'], message }]);
}
