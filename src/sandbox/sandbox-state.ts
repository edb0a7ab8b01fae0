import type { Deployment } from '../deployment/define-deployment.ts';
import { DeliveryQueue } from './callbacks/delivery-queue.ts';
import { MessengerRegistry } from './messenger/messenger-registry.ts';
import { OrderRegistry } from './orders/order-registry.ts';
import { PartnerRegistry } from './partners/partner-registry.ts';
import type { ResolvedSandboxOptions } from './sandbox-options.ts';

/** The whole state of one sandbox; nothing is shared between sandboxes. */
export interface SandboxState {
  readonly deployment: Deployment<unknown>;
  readonly options: ResolvedSandboxOptions;
  readonly partners: PartnerRegistry;
  readonly orders: OrderRegistry;
  readonly deliveryQueue: DeliveryQueue;
  readonly messenger: MessengerRegistry;
  /** The captured IPs. */
  readonly whitelist: Set<string>;
}

export function createState(deployment: Deployment<unknown>, options: ResolvedSandboxOptions): SandboxState {
  return {
    deployment,
    options,
    partners: new PartnerRegistry(options),
    orders: new OrderRegistry(options),
    deliveryQueue: new DeliveryQueue({ fetch: options.fetch, timeoutMs: options.callbackTimeoutMs }),
    messenger: new MessengerRegistry(options),
    whitelist: new Set(),
  };
}
