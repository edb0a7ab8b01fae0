import { ExchangeClient } from '../../src/exchange/exchange-client.ts';
import type { Sleep } from '../../src/internal/backoff.ts';
import { MessengerClient } from '../../src/messenger/messenger-client.ts';
import { createKeyRotation } from '../../src/rotation/create-key-rotation.ts';
import { storedKeys } from '../../src/rotation/stored-keys.ts';
import { createSandbox } from '../../src/sandbox/create-sandbox.ts';
import type { SandboxCredentials } from '../../src/sandbox/partners/fixed-partners.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { type SeededRandom, seededRandom } from '../../src/sandbox/seeded-random.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { nextTurn } from '../support/next-turn.ts';
import { Books } from './books.ts';
import type { CodeFlow } from './code-steps.ts';
import { connectionReset, type PartnerProcess, startProcess } from './partner-process.ts';
import { drawPlan, type Plan, pickOf } from './plan.ts';

export const partner = { partner_code: 'acme', email: 'dev@acme.example' };

/** The service, the partner's processes, and what is known of both. */
export interface World {
  readonly plan: Plan;
  readonly random: SeededRandom;
  readonly sandbox: Sandbox;
  readonly books: Books;
  readonly folder: string;
  readonly credentials: SandboxCredentials;
  readonly apiKeys: readonly string[];
  /** In place of a file of records: what is on another machine outlives a process too. */
  readonly sharedStore: RecordStore | undefined;
  readonly processes: PartnerProcess[];
  readonly flows: CodeFlow[];
  /** Links that the partner has opened. */
  readonly openedMails: Set<string>;
  /** To the service, for somebody who gives up when nothing comes. */
  readonly patientFetch: (request: Request) => Promise<Response>;
  /** Of the workers: until they are woken. */
  readonly sleep: Sleep;
  readonly wake: () => void;
  /** Whether the partner's side is not reached. */
  isDown: boolean;
}

const start = 1_700_000_000_000;

export async function createWorld(seed: string, folder: string): Promise<World> {
  const random = seededRandom(seed, 'chaos');
  const plan = drawPlan(random, seed);
  const books = new Books();
  const processes: PartnerProcess[] = [];
  let posted = 0;
  const sandbox = createSandbox({
    ...plan.service.options,
    faults: {},
    seed,
    clock: 'manual',
    now: () => start,
    oldKeysExpire: plan.oldKeysExpire,
    duplicateOrders: plan.duplicateOrders,
    orderTransitions: 'any',
    callbackRetry: plan.postings === 1 ? 'none' : { maxAttempts: plan.postings },
    async fetch(_, init) {
      const text = String(init?.body);
      const alive = world.isDown ? [] : processes.filter((process) => process.isAlive());
      const process = alive[posted++ % alive.length];
      const outcome = await process?.webhooks.receive(text);
      if (outcome !== undefined && 'digest' in outcome && outcome.digest !== undefined)
        books.digests.set(text, outcome.digest);
      // A process that has died meanwhile may have stored the event, and nobody hears of it.
      const status = process?.isAlive() === true ? (outcome?.status ?? 0) : 0;
      books.answer(text, status);
      if (status === 0) throw connectionReset();
      return new Response(null, { status });
    },
  });
  const { deployment, fetch, clock } = sandbox;
  const client = { deployment, fetch, now: clock.now };
  const exchange = new ExchangeClient(client);
  await exchange.onboard(partner);
  await exchange.whitelistIp();
  const credentials = sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
  const apiKeys: string[] = [];
  for (const messenger_device_no of ['1', '2']) {
    const messenger = new MessengerClient({ ...client, masterKey: sandbox.masterKey });
    const { body } = await messenger.generateApiKey({ messenger_device_no });
    // Sound: the sandbox's reply, which a service may wrap.
    const reply = body as { api_key: string; data?: { api_key: string } };
    const { api_key } = reply.data ?? reply;
    await fetch(messenger.scanDeviceUrl({ api_key }));
    apiKeys.push(api_key);
  }

  const sleepers = new Set<() => void>();
  const world: World = {
    ...{ plan, random, sandbox, books, folder, credentials, apiKeys, processes },
    sharedStore: plan.store === 'memory' ? memoryStore({ now: clock.now }) : undefined,
    flows: [],
    openedMails: new Set(sandbox.emails.map(({ link }) => link)),
    patientFetch: (request) => fetchOrGiveUp(sandbox, request),
    sleep: (_, signal) =>
      new Promise((resolve) => {
        const done = () => {
          sleepers.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        if (signal.aborted) return done();
        sleepers.add(done);
        signal.addEventListener('abort', done);
      }),
    wake: () => {
      for (const done of [...sleepers]) done();
    },
    isDown: false,
  };
  const store = world.sharedStore ?? sqliteStore({ path: `${folder}/records.sqlite`, now: clock.now });
  await createKeyRotation({ storage: storedKeys({ store }), now: clock.now }).receive(credentials);
  if (world.sharedStore === undefined) await store.close();
  for (let count = 0; count < plan.processes; count++) processes.push(startProcess(world));
  for (const operation of ['createOrder', 'sendMessage', 'regenerateKeys'] as const)
    sandbox.faults.rate(operation, plan.requestFaults);
  sandbox.faults.rate('event', plan.eventFaults);
  return world;
}

/** Aborts a request that stalls, as a time limit would. */
async function fetchOrGiveUp(sandbox: Sandbox, request: Request): Promise<Response> {
  const giveUp = new AbortController();
  const unsubscribe = sandbox.trace.subscribe(({ kind, faults }) => {
    if (kind === 'fault' && faults.includes('stall'))
      giveUp.abort(new DOMException('No reply in time.', 'TimeoutError'));
  });
  try {
    return await sandbox.fetch(request, { signal: giveUp.signal });
  } finally {
    unsubscribe();
  }
}

/** Waits for work, and moves the clock where a reply comes in pieces. */
export async function during<Result>({ sandbox }: World, work: Promise<Result>): Promise<Result> {
  let isOver = false;
  let isSlow = false;
  const unsubscribe = sandbox.trace.subscribe(({ kind, faults }) => {
    isSlow ||= kind === 'fault' && faults.includes('trickle');
  });
  const over = () => {
    isOver = true;
    unsubscribe();
  };
  work.then(over, over);
  while (!isOver) {
    await nextTurn();
    if (isSlow) await sandbox.clock.advance(10);
  }
  return await work;
}

/** Until no event is outstanding and nothing is left to handle. */
export async function comeToRest(world: World): Promise<void> {
  const { sandbox, processes, wake } = world;
  for (let round = 0; round < 2_000; round++) {
    await sandbox.idle();
    wake();
    for (let turn = 0; turn < 4; turn++) await nextTurn();
    const counts = await Promise.all(processes.map(({ inbox }) => inbox.counts()));
    const { nextAt, now, advance } = sandbox.clock;
    if (counts.some(({ open }) => open > 0)) await advance(100);
    else if (nextAt !== undefined) await passTime(world, Math.max(1, nextAt - now()));
    else return;
  }
  throw new Error('The scenario never comes to rest.');
}

/**
 * Moves the clock. Handlers that run get time to end: a lease of a minute is over in no time here, and what lost its
 * lease may be handled twice.
 */
export async function passTime(world: World, ms: number): Promise<void> {
  const { clock } = world.sandbox;
  for (let left = ms; left > 0; left -= longestStep) {
    await handlersEnd(world);
    await clock.advance(Math.min(left, longestStep));
  }
  await handlersEnd(world);
}

/** Well below the lease of a delivery. */
const longestStep = 20_000;

async function handlersEnd({ processes }: World): Promise<void> {
  for (let quiet = 0; quiet < 4; quiet++) {
    await nextTurn();
    if (processes.some((process) => process.isHandling())) quiet = 0;
  }
}

/** A process that lives. */
export function pickProcess({ processes, random }: World): PartnerProcess {
  const process = pickOf(
    random,
    processes.filter((one) => one.isAlive()),
  );
  if (process === undefined) throw new Error('No process is alive.');
  return process;
}

/** Ends a process, and starts another one in its place. */
export async function restart(
  world: World,
  process: PartnerProcess,
  how: 'stopped' | 'killed',
): Promise<void> {
  await process.end(how);
  world.processes[world.processes.indexOf(process)] = startProcess(world);
}
