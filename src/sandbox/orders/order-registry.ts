import { ValidationError } from '../../errors/validation-error.ts';
import type { Records } from '../data/sandbox-data.ts';
import type { ResolvedSandboxOptions } from '../resolve-sandbox-options.ts';
import { randomToken } from '../secrets.ts';
import { checkStep, type SandboxOrderState, type SandboxOrderStep } from './order-steps.ts';
import type { SandboxOrder } from './sandbox-order.ts';

/** The orders of a sandbox, by the service's reference. */
export class OrderRegistry {
  readonly #options: ResolvedSandboxOptions;
  readonly #records: Records;
  readonly #orders = new Map<string, SandboxOrder>();
  /** The service's references for each order id of the partners: several partners may use the same one. */
  readonly #refs = new Map<string, string[]>();
  #numbers = 0;

  constructor(options: ResolvedSandboxOptions, records: Records) {
    this.#options = options;
    this.#records = records;
  }

  get all(): readonly SandboxOrder[] {
    return [...this.#orders.values()];
  }

  get size(): number {
    return this.#orders.size;
  }

  /** A number that no other order has. */
  nextNumber(): number {
    this.#numbers += 1;
    return this.#numbers;
  }

  /** The first order of this partner with this id. */
  existing(order: Pick<SandboxOrder, 'partnerId' | 'partner_order_id'>): SandboxOrder | undefined {
    return this.#named(order.partner_order_id).find(({ partnerId }) => partnerId === order.partnerId);
  }

  add(order: SandboxOrder): void {
    const { partner_order_id: own, platform_order_ref: ref } = order;
    this.#save(order);
    const refs = this.#refs.get(own);
    if (refs === undefined) this.#refs.set(own, [ref]);
    else refs.push(ref);
  }

  /** Takes back an order that was written down. Orders are to come in the order of their numbers. */
  restore(value: object): void {
    // Sound: the sandbox wrote this record.
    const order = Object.freeze(value as SandboxOrder);
    const { partner_order_id: own, platform_order_ref: ref } = order;
    this.#refs.set(own, [...(this.#refs.get(own) ?? []), ref]);
    this.#orders.set(ref, order);
    this.#numbers = Math.max(this.#numbers, orderNumber(ref));
  }

  /** @throws {ValidationError} unless exactly one order has this name */
  find(name: string): SandboxOrder {
    const byRef = this.#orders.get(name);
    if (byRef !== undefined) return byRef;
    const [only, ...others] = this.#named(name);
    if (only === undefined) throw invalidOrder('is neither a partner_order_id nor a platform_order_ref');
    if (others.length > 0) throw invalidOrder('is used by several orders: give the platform_order_ref');
    return only;
  }

  /** Moves an order on and returns its new state. @throws {ValidationError} if the step cannot follow */
  advance(
    name: string,
    step: SandboxOrderStep,
    transitions: 'checked' | 'any' = this.#options.orderTransitions,
  ): SandboxOrder {
    const before = this.find(name);
    checkStep(before.state, step, transitions);
    const order = Object.freeze({ ...before, state: step, ...this.#changes(step) });
    this.#save(order);
    return order;
  }

  clear(): void {
    for (const ref of this.#orders.keys()) this.#records.delete(`order/${ref}`);
    this.#orders.clear();
    this.#refs.clear();
    this.#numbers = 0;
  }

  #save(order: SandboxOrder): void {
    this.#records.put(`order/${order.platform_order_ref}`, order);
    this.#orders.set(order.platform_order_ref, order);
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

  #named(partnerOrderId: string): SandboxOrder[] {
    return (this.#refs.get(partnerOrderId) ?? []).flatMap((ref) => this.#orders.get(ref) ?? []);
  }
}

/** The number in a reference of the sandbox. */
export function orderNumber(ref: string): number {
  return Number(ref.split('-')[1] ?? 0);
}

function invalidOrder(message: string): ValidationError {
  return new ValidationError('advance', [{ path: ['order'], message }]);
}
