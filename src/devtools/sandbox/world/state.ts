import { randomUUID } from 'node:crypto';
import type { Deployment } from '../../../deployment/define-deployment.ts';
import type { RandomBytes } from '../../../internal/options.ts';
import type { readSandboxOptions, SandboxSettings } from '../settings/sandbox-options.ts';
import { seededRandom } from '../settings/seeded-random.ts';
import { randomToken } from '../wire/sandbox-secrets.ts';
import { createClock } from './clock.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { createFaultPlan } from './fault-plan.ts';
import { MessengerRegistry } from './messenger-registry.ts';
import { OrderRegistry } from './order-registry.ts';
import { PartnerRegistry } from './partner-registry.ts';
import { createTraceLog } from './trace.ts';

/** Makes the parts of a sandbox. */
export function createState(deployment: Deployment<unknown>, options: ReturnType<typeof readSandboxOptions>) {
  const { seed, maxRemembered } = options;
  const clock = createClock({ now: options.now, mode: options.clock });
  const trace = createTraceLog({ now: clock.now, maxEntries: maxRemembered, seed });
  let random: RandomBytes;
  /** Goes to the start of the stream. Returns the master key, which is drawn first unless it was given. */
  const restartRandom = () => {
    random = seededRandom(seed, 'keys').bytes;
    return options.masterKey ?? `master_${randomToken(random, 24)}`;
  };
  // Every part uses the sandbox's clock.
  const timed: SandboxSettings = { ...options, now: clock.now, random: (bytes: number) => random(bytes) };
  const state = {
    deployment,
    options: timed,
    clock,
    trace,
    faults: createFaultPlan({ seed, initial: options.faults }),
    partners: new PartnerRegistry(timed),
    orders: new OrderRegistry(timed),
    deliveryQueue: new DeliveryQueue({ ...options, clock, trace }),
    messenger: new MessengerRegistry(timed),
    whitelist: new Set<string>(),
    /** The messenger's key. */
    masterKey: restartRandom(),
    restartRandom,
    /** Another one after each start. */
    instance: randomUUID(),
  };
  for (const partner of options.partners) state.partners.addFixed(partner);
  return state;
}

/** The parts of a sandbox. */
export type SandboxState = ReturnType<typeof createState>;

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
