import { randomUUID } from 'node:crypto';
import type { Deployment } from '../../deployment/define-deployment.ts';
import type { RandomBytes } from '../../internal/options.ts';
import { refuseNewer } from '../../store/stored-form.ts';
import { createClock, type InternalClock } from './clock.ts';
import { createData, type SandboxData } from './data.ts';
import { retryDelay } from './events/delivery.ts';
import { DeliveryQueue } from './events/delivery-queue.ts';
import { createFaultPlan, type FaultPlan } from './faults/fault-plan.ts';
import { MessengerRegistry } from './messenger/messenger-registry.ts';
import { OrderRegistry, orderNumber } from './orders/order-registry.ts';
import { PartnerRegistry } from './partners/partner-registry.ts';
import type { readSandboxOptions, SandboxSettings } from './sandbox-options.ts';
import { randomToken, secretDigest } from './sandbox-secrets.ts';
import { seededRandom } from './seeded-random.ts';
import { createTraceLog, type TraceLog } from './trace.ts';

/** Makes the parts of a sandbox, and reads its store in the background. */
export function createState(
  deployment: Deployment<unknown>,
  options: ReturnType<typeof readSandboxOptions>,
): SandboxState {
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
  let random: RandomBytes;
  // Every part uses the sandbox's clock.
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
    deliveryQueue: new DeliveryQueue(queueOptions, retryDelay(options.callbackRetry ?? 'none')),
    messenger: new MessengerRegistry(timed, data),
    whitelist: new Set(),
    data,
    ready: ready.promise,
    isReady: !data.isKept,
    run: 0,
    masterKey: '',
    instance: randomUUID(),
    restartRandom() {
      const { run } = state;
      random = seededRandom(seed, run === 0 ? 'keys' : `keys of run ${run}`).bytes;
      return options.masterKey ?? `master_${randomToken(random, 24)}`;
    },
  };
  state.masterKey = state.restartRandom();
  if (state.isReady) {
    for (const partner of options.partners) state.partners.addFixed(partner);
    ready.resolve();
    return state;
  }
  // Callers of `ready` get the error; without any, it must not become an unhandled rejection.
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
  readonly data: SandboxData;
  /** Resolves when the store is read, at once without a store. Rejects if it cannot be read. */
  readonly ready: Promise<void>;
  isReady: boolean;
  /** The messenger's key. */
  masterKey: string;
  /** Each start of a store draws keys from another stream of the seed, since the store holds those of the earlier ones. */
  run: number;
  /** Goes to the start of the stream. Returns the master key, which is drawn first unless it was given. */
  restartRandom(): string;
  /** The id of this start. */
  readonly instance: string;
}

/** Resets everything except the time, the numbering of the trace and the master key, and draws the same again. */
export async function resetState(state: SandboxState): Promise<void> {
  const { data, deliveryQueue, faults, messenger, options, orders, partners, trace, whitelist } = state;
  deliveryQueue.clear();
  deliveryQueue.retryDelay = retryDelay(options.callbackRetry ?? 'none');
  for (const registry of [orders, partners, messenger]) registry.clear();
  for (const ip of whitelist) data.delete(`ip/${secretDigest(ip)}`);
  whitelist.clear();
  faults.reset();
  state.restartRandom();
  for (const partner of options.partners) partners.addFixed(partner);
  trace.view.clear();
  await data.commit();
}

interface Facts {
  readonly version: number;
  /** How often it was opened. */
  readonly runs: number;
  /** Absent until one was drawn: a given one is never stored. */
  readonly masterKey?: string | undefined;
}

const version = 1;

/** Loads the records of the store, and records that it was opened. */
async function restoreState(state: SandboxState): Promise<void> {
  const { data, options, partners, orders, messenger, whitelist } = state;
  // Sound: the sandbox wrote these records, each of them is an object, and their version is checked.
  const records = (await data.read()) as { key: string; value: object }[];
  const facts = records.find(({ key }) => key === 'facts')?.value as Facts | undefined;
  refuseNewer(facts, 'The data of the sandbox');
  for (const { key, value } of records) {
    partners.restore(key, value);
    messenger.restore(key, value);
    // Sound: as above.
    if (key.startsWith('ip/')) whitelist.add((value as { ip: string }).ip);
  }
  const placed = records.filter(({ key }) => key.startsWith('order/'));
  placed.sort((first, second) => orderNumber(first.key) - orderNumber(second.key));
  for (const { value } of placed) orders.restore(value);
  const runs = (facts?.runs ?? 0) + 1;
  if (facts !== undefined) {
    state.run = runs;
    const drawn = state.restartRandom();
    state.masterKey = options.masterKey ?? facts.masterKey ?? drawn;
  }
  for (const partner of options.partners) partners.addFixed(partner);
  const masterKey = options.masterKey === undefined ? state.masterKey : facts?.masterKey;
  data.put('facts', { version, runs, masterKey } satisfies Facts);
  await data.commit();
}
