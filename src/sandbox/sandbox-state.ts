import type { Deployment } from '../deployment/define-deployment.ts';
import type { DeliveryQueue } from './callbacks/delivery-queue.ts';
import type { OwnClock } from './clock/sandbox-clock.ts';
import type { SandboxData } from './data/sandbox-data.ts';
import type { FaultPlan } from './faults/fault-plan.ts';
import type { MessengerRegistry } from './messenger/messenger-registry.ts';
import type { OrderRegistry } from './orders/order-registry.ts';
import type { PartnerRegistry } from './partners/partner-registry.ts';
import type { ResolvedSandboxOptions } from './resolve-sandbox-options.ts';
import type { TraceLog } from './trace/trace-log.ts';

/** The whole state of one sandbox; nothing is shared between sandboxes. */
export interface SandboxState {
  readonly deployment: Deployment<unknown>;
  readonly options: ResolvedSandboxOptions;
  readonly clock: OwnClock;
  readonly trace: TraceLog;
  readonly faults: FaultPlan;
  readonly partners: PartnerRegistry;
  readonly orders: OrderRegistry;
  readonly deliveryQueue: DeliveryQueue;
  readonly messenger: MessengerRegistry;
  /** The captured IPs. */
  readonly whitelist: Set<string>;
  /** What lasts. */
  readonly data: SandboxData;
  /** Resolves when what the store holds is there; rejects if it cannot be read. At once where there is no store. */
  readonly ready: Promise<void>;
  isReady: boolean;
  /** The messenger's. */
  masterKey: string;
  /** Draws keys from another stream: the store holds those of this one already. */
  beginRun(run: number): void;
  /** Draws keys from the beginning of this run's stream again. */
  restartRun(): void;
  /** Tells one sandbox from another, e.g. from the one before a restart. */
  readonly instance: string;
}
