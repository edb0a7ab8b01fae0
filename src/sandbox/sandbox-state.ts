import { type Deployment, operationUrl } from '../deployment/define-deployment.ts';
import type { Operation } from '../deployment/operations.ts';
import { EventPostman } from './callbacks/delivery-queue.ts';
import { MessengerDesk } from './messenger/messenger-registry.ts';
import { OrderBook } from './orders/order-registry.ts';
import { PartnerRegistry } from './partners/partner-registry.ts';
import type { CheckedOptions } from './sandbox-options.ts';

/** Everything that one sandbox holds; nothing is shared between two of them. */
export interface SandboxState {
  readonly deployment: Deployment<unknown>;
  readonly options: CheckedOptions;
  readonly partners: PartnerRegistry;
  readonly orders: OrderBook;
  readonly postman: EventPostman;
  readonly messenger: MessengerDesk;
  /** IPs that were captured. */
  readonly whitelist: Set<string>;
}

export function createState(deployment: Deployment<unknown>, options: CheckedOptions): SandboxState {
  return {
    deployment,
    options,
    partners: new PartnerRegistry(options),
    orders: new OrderBook(options),
    postman: new EventPostman({ fetch: options.fetch, timeoutMs: options.callbackTimeoutMs }),
    messenger: new MessengerDesk(options),
    whitelist: new Set(),
  };
}

/** The path of an operation, the prefix of its base URL included: the same at every address of the sandbox. */
export function operationPath(state: SandboxState, operation: Operation): string {
  return new URL(operationUrl(state.deployment, operation)).pathname;
}
