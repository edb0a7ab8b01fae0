import { randomUUID } from 'node:crypto';
import type { Deployment } from '../deployment/define-deployment.ts';
import { DeliveryQueue } from './callbacks/delivery-queue.ts';
import { retryDelay } from './callbacks/retry-policy.ts';
import { createClock } from './clock/sandbox-clock.ts';
import { restoreState } from './data/restore-state.ts';
import { createData } from './data/sandbox-data.ts';
import { createFaultPlan } from './faults/fault-plan.ts';
import { MessengerRegistry } from './messenger/messenger-registry.ts';
import { OrderRegistry } from './orders/order-registry.ts';
import { PartnerRegistry } from './partners/partner-registry.ts';
import { masterKeyBytes, type ResolvedSandboxOptions } from './resolve-sandbox-options.ts';
import type { SandboxState } from './sandbox-state.ts';
import { createTraceLog } from './trace/trace-log.ts';

/** The parts of a new sandbox. What its store holds is read in the background. */
export function createState(deployment: Deployment<unknown>, options: ResolvedSandboxOptions): SandboxState {
  const { seed, maxRemembered } = options;
  const clock = createClock({ now: options.now, mode: options.clock });
  const trace = createTraceLog({ now: clock.now, maxEntries: maxRemembered, seed });
  const data = createData(options.data);
  const queueOptions = {
    fetch: options.fetch,
    timeoutMs: options.callbackTimeoutMs,
    maxRemembered,
    isReceived: received[options.callbackReceived],
    commit: data.commit,
    clock,
    trace,
  };
  let random = options.random;
  let currentRun = 0;
  // Everything inside the sandbox goes by its clock.
  const timed = { ...options, now: clock.now, random: (bytes: number) => random(bytes) };
  const ready = Promise.withResolvers<void>();
  const state: SandboxState = {
    deployment,
    options: timed,
    clock,
    trace,
    faults: createFaultPlan({ seed, initial: options.faults }),
    partners: new PartnerRegistry(timed, data),
    orders: new OrderRegistry(timed, data),
    deliveryQueue: new DeliveryQueue(queueOptions, retryDelay(options.callbackRetry)),
    messenger: new MessengerRegistry(timed, data),
    whitelist: new Set(),
    data,
    ready: ready.promise,
    isReady: !data.isKept,
    masterKey: options.masterKey,
    instance: randomUUID(),
    beginRun(run) {
      currentRun = run;
      random = options.randomOfRun(run);
    },
    restartRun() {
      random = options.randomOfRun(currentRun);
      // Drawn from the same stream before all else when the sandbox was made.
      if (currentRun === 0 && options.isMasterKeyDrawn) random(masterKeyBytes);
    },
  };
  if (state.isReady) {
    for (const partner of options.partners) state.partners.fix(partner);
    ready.resolve();
    return state;
  }
  // Said to everyone who waits for it, and to nobody else.
  ready.promise.catch(() => {});
  restoreState(state).then(() => {
    state.isReady = true;
    ready.resolve();
  }, ready.reject);
  return state;
}

/** Which answers to an event count as received (ledger: `callback-reply`). */
const received = {
  '2xx': (status: number) => status >= 200 && status < 300,
  '200': (status: number) => status === 200,
  any: () => true,
} as const;
