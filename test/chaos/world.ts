import { MessengerClient } from '../../src/client/messenger-client.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import type { Sandbox } from '../../src/devtools/sandbox/sandbox.ts';
import type { SandboxCredentials } from '../../src/devtools/sandbox/settings/fixed-partners.ts';
import type { SeededRandom } from '../../src/devtools/sandbox/settings/seeded-random.ts';
import { createKeyRotation } from '../../src/keys/create-key-rotation.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import type { ProcessView } from '../../src/store/process-identity.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { faultsAt, planFaults } from '../support/fault-rates.ts';
import { Books, type Disturbance } from './books.ts';
import { Broker } from './broker.ts';
import type { CodeFlow } from './code-steps.ts';
import { handle } from './handle.ts';
import { Machine, type SharedClock } from './machine.ts';
import { callbackFetch } from './network.ts';
import { type PartnerProcess, startProcess } from './partner-process.ts';
import { messageFaults, type Plan, pick, type WorldFaults } from './plan.ts';
import { StoreServer } from './remote-store.ts';
import { Simulation } from './simulation.ts';
import { simulateSqlite } from './sqlite-world.ts';

export const partnerNames = ['a', 'b'] as const;
export type PartnerName = (typeof partnerNames)[number];

/** Something that somebody does, while everything else goes on. */
export type Step = (world: World, random: SeededRandom) => Promise<void> | void;

/** The service, the partner's processes, what goes wrong between them, and what is known of all. */
export class World {
  readonly plan: Plan;
  readonly simulation: Simulation;
  readonly books: Books;
  readonly folder: string;
  readonly service: Machine;
  readonly sandbox: Sandbox;
  readonly credentials: Readonly<Record<PartnerName, SandboxCredentials>>;
  apiKey = '';
  readonly storeServer = new StoreServer();
  readonly broker: Broker;
  readonly hostClock: SharedClock;
  readonly processes: PartnerProcess[] = [];
  readonly flows: CodeFlow[] = [];
  /** Links that the partner has opened. */
  readonly openedMails = new Set<string>();
  /** Of links that were opened, until they are stored. */
  readonly openedKeys: SandboxCredentials[] = [];
  readonly figures = new Map<string, number>();
  /** Where observers and load balancers are drawn from. */
  readonly #observers: SeededRandom;
  readonly #balancer: SeededRandom;
  readonly handle = handle.bind(undefined, this);
  processNumber = 1;
  /** All that ever ran, by their process IDs. */
  readonly #machines: Machine[] = [];
  /** Whether the partner's side is not reached. */
  isDown = false;
  /** Faults are over: everything comes to rest. */
  isCalm = false;
  #restarts = 0;
  readonly #faultRandom: Record<keyof WorldFaults, SeededRandom>;

  constructor(plan: Plan, { seed, folder }: { seed: string; folder: string }) {
    this.plan = plan;
    this.folder = folder;
    const simulation = new Simulation(seed);
    this.simulation = simulation;
    simulation.activate();
    this.#observers = simulation.stream('observers');
    this.#balancer = simulation.stream('load balancer');
    this.#faultRandom = {
      store: simulation.stream('store faults'),
      network: simulation.stream('network faults'),
      sqlite: simulation.stream('sqlite faults'),
    };
    this.books = new Books(this);
    this.hostClock = this.drawClock('the host');
    const clock = { offset: 0, drift: 0 };
    this.service = new Machine('service', { clock, bornAt: 0, canBeDisturbed: false });
    this.credentials = { a: drawCredentials('a', plan), b: drawCredentials('b', plan) };
    this.broker = new Broker(this);
    const slowDisk = simulation.stream('slow disk');
    simulateSqlite({
      drawFault: (machine) => this.drawFault('sqlite', machine),
      stall: (machine) => simulation.stall(machine, Math.ceil(slowDisk.fraction() * 10_000)),
      die: (machine, why) => void this.die(machine, why),
    });
    simulation.onDisturbance = (kind, machine, ms) => this.#noteDisturbance(kind, machine, ms);
    simulation.onUnhandled = (error) => {
      this.books.breach(`An unhandled rejection: ${error instanceof Error ? error.stack : String(error)}`);
    };
    const { postings } = plan;
    this.sandbox = simulation.within(this.service, () =>
      createSandbox({
        ...plan.service.options,
        faults: [],
        seed,
        fetch: callbackFetch(this),
        partners: partnerNames.map((name) => ({ credentials: this.credentials[name] })),
        whitelist: 'off',
        oldKeysExpire: plan.oldKeysExpire,
        duplicateOrders: plan.duplicateOrders,
        orderTransitions: 'any',
        callbackRetry:
          postings === 1 ? undefined : { maxAttempts: postings, firstDelayMs: 2_000, maxDelayMs: 60_000 },
      }),
    );
  }

  /** Before anything goes wrong: a device is paired, the first keys are stored, the processes run. */
  async prepare(): Promise<void> {
    const { sandbox, simulation, plan } = this;
    const { deployment, fetch, masterKey } = sandbox;
    const messenger = new MessengerClient({ deployment, fetch, masterKey });
    const { body } = await messenger.generateApiKey({ messenger_device_no: '1' });
    // Sound: the sandbox's reply, which a service may wrap.
    const reply = body as { api_key: string; data?: { api_key: string } };
    const { api_key } = reply.data ?? reply;
    await fetch(messenger.scanDeviceUrl({ api_key }));
    this.apiKey = api_key;
    const store =
      plan.inbox === 'sqlite'
        ? sqliteStore({ path: `${this.folder}/records.sqlite` })
        : this.storeServer.records;
    for (const name of partnerNames) {
      const storage = storedKeys({ store, key: `keys-${name}` });
      const { partnerId, partnerCode, ...nameless } = this.credentials[name];
      const isNameless = plan.isNameless && name === 'a';
      await createKeyRotation({ storage }).receive(isNameless ? nameless : this.credentials[name]);
    }
    if (plan.inbox === 'sqlite') await store.close();
    for (let count = 0; count < plan.processes; count++) {
      const isReceiver = plan.isSplit && count === 0 && plan.processes > 1;
      this.processes.push(startProcess(this, plan.versions[plan.isMixed && count > 0 ? 1 : 0], isReceiver));
    }
    if (plan.inbox === 'queue') this.broker.start();
    if (plan.inbox === 'drain') this.#drainRegularly();
    planFaults(sandbox.faults, [
      ...faultsAt('createOrder', plan.requestFaults),
      ...faultsAt('regenerateKeys', plan.requestFaults),
      ...faultsAt('sendMessage', messageFaults(plan)),
      ...faultsAt('event', plan.eventFaults),
    ]);
    simulation.disturbances = plan.disturbances;
  }

  /** No fault begins any more; what is dead is started again, and clocks go on from where they are. */
  calm(): void {
    this.isCalm = true;
    this.isDown = false;
    this.storeServer.isDown = false;
    this.storeServer.isFull = false;
    this.simulation.disturbances = { stall: 0, lateTimer: 0, clockJump: 0 };
    for (const { machine } of this.processes) machine.sleepsFor = 0;
    this.sandbox.faults.clear();
    // The update comes to its end: only the next version reads all that is stored.
    if (!this.plan.versions[1].hasNewerForm) return;
    for (const { machine, version } of this.alive())
      if (!version.hasNewerForm) void this.die(machine, 'for the next version');
  }

  alive(): PartnerProcess[] {
    return this.processes.filter(({ machine }) => machine.isAlive);
  }

  /** A process that lives and answers; `undefined` if none does. */
  pick(random = this.#observers): PartnerProcess | undefined {
    const { time } = this.simulation;
    return random.pick(this.alive().filter(({ machine }) => machine.busyUntil <= time));
  }

  /** Where the load balancer sends the next event. */
  route(): PartnerProcess | undefined {
    return this.#balancer.pick(this.alive());
  }

  count(name: string, by = 1): void {
    this.figures.set(name, (this.figures.get(name) ?? 0) + by);
  }

  drawClock(name: string): SharedClock {
    const { plan } = this;
    const random = this.simulation.stream(`clock of ${name}`);
    const most = plan.clocks === 'true' ? 1_500 : 30_000;
    return {
      offset: Math.round((random.fraction() * 2 - 1) * most),
      drift: (random.fraction() - 0.5) * 1e-4,
    };
  }

  drawFault<Kind extends keyof WorldFaults>(
    kind: Kind,
    machine: Machine,
    keys: readonly string[] = [],
  ): keyof WorldFaults[Kind] | undefined {
    const random = this.#faultRandom[kind];
    const draw = random.fraction();
    if (this.isCalm || !machine.isAlive) return undefined;
    let sum = 0;
    for (const [name, rate] of Object.entries(this.plan.faults[kind])) {
      sum += rate;
      if (draw >= sum) continue;
      this.count(`${kind} ${name}`);
      if (name !== 'repeated') this.disturb({ kind: 'fault', machine, about: keys.join() });
      // Sound: the names are the keys of the table.
      return name as keyof WorldFaults[Kind];
    }
    return undefined;
  }

  /** What a process sees of those on its host: with SQLite on all, otherwise on every other one. */
  viewFrom(machine: Machine): ProcessView {
    const pid = this.#machines.push(machine);
    const space = this.plan.inbox === 'sqlite' ? 'host' : `host ${pid % 2}`;
    return {
      self: () => ({ space, pid, startedAt: machine.name }),
      hasEnded: (other) => {
        const hasEnded = other.space === space && this.#machines[other.pid - 1]?.isAlive === false;
        if (hasEnded) this.count('a start freed the lease of a dead process');
        return hasEnded;
      },
    };
  }

  /** A process ends without a word, and another one takes its place after a while. */
  die(machine: Machine, why: string): Promise<never> {
    if (machine.isAlive) {
      this.simulation.log(`${machine.name} dies ${why}`);
      this.count('deaths');
      this.disturb({ kind: 'death', machine });
      if (this.books.isHandling(machine)) this.count('a process died while it handled');
      machine.kill(this.simulation.time);
      if (this.alive().length === 0) this.count('all processes were dead at once');
      const restarting = this.simulation.stream(`restart ${++this.#restarts}`);
      const ms = pick(restarting, [300, 5_000, 60_000]) * restarting.fraction();
      this.simulation.after(ms, undefined, () => this.replace(machine, this.pickVersion(restarting)));
    }
    return new Promise(() => {});
  }

  pickVersion(random: SeededRandom) {
    const { versions } = this.plan;
    return this.isCalm && versions[1].hasNewerForm ? versions[1] : pick(random, versions);
  }

  /** Starts a process in the place of a dead one. */
  replace(machine: Machine, version: Plan['versions'][number]): void {
    const index = this.processes.findIndex((one) => one.machine === machine);
    const former = this.processes[index];
    if (former === undefined) return;
    this.processes[index] = startProcess(this, version, former.isReceiver);
    this.count('restarts');
    if (new Set(this.alive().map((other) => other.version)).size > 1)
      this.count('two versions ran side by side');
  }

  disturb({
    forMs = 0,
    ...rest
  }: Pick<Disturbance, 'kind' | 'machine' | 'about'> & { readonly forMs?: number }): void {
    const from = this.simulation.time;
    this.books.disturbances.push({ ...rest, from, until: this.simulation.timeOf(rest.machine) + forMs });
  }

  #noteDisturbance(kind: 'stall' | 'clock-jump', machine: Machine, ms: number): void {
    this.count(kind);
    if (ms < 0 && this.simulation.isInTransaction) this.count('the clock went back inside a transaction');
    if (kind === 'stall' && ms > 65_000) this.count('a process stalled for longer than its lease');
    this.disturb({ kind, machine });
  }

  /** A scheduled function in some process, from time to time, cut off when its time is over. */
  #drainRegularly(): void {
    const random = this.simulation.stream('drains');
    /** How many drain, and since when any does. */
    const draining = new Map<Machine, { count: number; since: number }>();
    const drain = async () => {
      const process = this.pick(random);
      if (process === undefined || !('drain' in process.inbox)) return;
      const { machine, inbox } = process;
      const timeLimitMs = pick(random, [3_000, 8_000, 50_000, 50_000]);
      const limit = random.chance(0.2) ? 2 : undefined;
      const begun = this.simulation.time;
      const { count = 0, since = begun } = draining.get(machine) ?? {};
      draining.set(machine, { count: count + 1, since: count === 0 ? begun : since });
      try {
        const result = await this.simulation.within(machine, () => inbox.drain({ timeLimitMs, limit }));
        this.simulation.log(`drain of ${machine.name}: ${JSON.stringify(result)}`);
        this.books.drained(result, { machine, begun });
        if (this.books.isCutOff(machine, begun)) this.count('a drain was cut off while a handler ran');
      } catch {
        // The store is away: the next one goes on.
      }
      if (!machine.isAlive) return;
      const left = draining.get(machine);
      // The handlers of a drain go on while another one waits.
      if (left !== undefined && --left.count === 0) this.books.gaveBack(machine, left.since);
    };
    const turn = () => {
      void drain();
      this.simulation.after(2_000 + random.fraction() * 12_000, undefined, turn);
    };
    turn();
  }
}

function drawCredentials(name: PartnerName, { service }: Plan): SandboxCredentials {
  const { merchants = [] } = service.options;
  const secret = (what: string) => `${name}${what}`.padEnd(32, '0');
  return {
    partnerPublicKey: `pk_partner_${secret('public')}`,
    partnerSecretKey: `sk_partner_${secret('partner')}`,
    merchantSecretKey: `sk_merchant_${secret('merchant')}`,
    ...(merchants.length > 0 && {
      merchantSecretKeys: Object.fromEntries(merchants.map((name) => [name, `sk_merchant_${secret(name)}`])),
    }),
    partnerId: `partner-${name}`,
    partnerCode: `code-${name}`,
  };
}
