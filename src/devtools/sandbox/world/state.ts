import { randomUUID } from 'node:crypto';
import type { Deployment } from '../../../deployment/define-deployment.ts';
import type { RandomBytes } from '../../../internal/options.ts';
import type { readSandboxOptions, SandboxSettings } from '../settings/sandbox-options.ts';
import { seededRandom } from '../settings/seeded-random.ts';
import { randomToken } from '../wire/sandbox-secrets.ts';
import { createClock, type InternalClock } from './clock.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { createFaultPlan, type FaultPlan } from './fault-plan.ts';
import { MessengerRegistry } from './messenger-registry.ts';
import { OrderRegistry } from './order-registry.ts';
import { PartnerRegistry } from './partner-registry.ts';
import { createTraceLog, type TraceLog } from './trace.ts';

/** Makes the parts of a sandbox. */
export function createState(
  deployment: Deployment<unknown>,
  options: ReturnType<typeof readSandboxOptions>,
): SandboxState {
  const { seed, maxRemembered } = options;
  const clock = createClock({ now: options.now, mode: options.clock });
  const trace = createTraceLog({ now: clock.now, maxEntries: maxRemembered, seed });
  let random: RandomBytes;
  const restartRandom = () => {
    random = seededRandom(seed, 'keys').bytes;
    return options.masterKey ?? `master_${randomToken(random, 24)}`;
  };
  // Every part uses the sandbox's clock.
  const timed = { ...options, now: clock.now, random: (bytes: number) => random(bytes) };
  const state: SandboxState = {
    deployment,
    options: timed,
    clock,
    trace,
    faults: createFaultPlan({ seed, initial: options.faults }),
    partners: new PartnerRegistry(timed),
    orders: new OrderRegistry(timed),
    deliveryQueue: new DeliveryQueue({ ...options, clock, trace }),
    messenger: new MessengerRegistry(timed),
    whitelist: new Set(),
    masterKey: restartRandom(),
    restartRandom,
    instance: randomUUID(),
  };
  for (const partner of options.partners) state.partners.addFixed(partner);
  return state;
}

export interface SandboxState {
  readonly deployment: Deployment<unknown>;
  readonly options: SandboxSettings;
  readonly clock: InternalClock;
  readonly trace: TraceLog;
  readonly faults: FaultPlan;
  readonly partners: PartnerRegistry;
  readonly orders: OrderRegistry;
  readonly deliveryQueue: DeliveryQueue;
  readonly messenger: MessengerRegistry;
  readonly whitelist: Set<string>;
  /** The messenger's key. */
  readonly masterKey: string;
  /** Goes to the start of the stream. Returns the master key, which is drawn first unless it was given. */
  restartRandom(): string;
  /** The id of this start. */
  readonly instance: string;
}

/** Resets everything except the time, the numbering of the trace and the master key, and draws the same again. */
export function resetState(state: SandboxState): void {
  const { deliveryQueue, faults, messenger, options, orders, partners, trace, whitelist } = state;
  deliveryQueue.clear();
  for (const registry of [orders, partners, messenger]) registry.clear();
  whitelist.clear();
  faults.reset();
  state.restartRandom();
  for (const partner of options.partners) partners.addFixed(partner);
  trace.view.clear();
}
