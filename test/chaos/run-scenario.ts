import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkBooks } from './check-books.ts';
import { checkContract } from './check-contract.ts';
import { checkCode, issueCode, resendCode } from './code-steps.ts';
import { endRotation, rotate } from './key-steps.ts';
import { copyEvent, createAgain, createChanged, createNew, goOn, prepare } from './order-steps.ts';
import { type Plan, pick } from './plan.ts';
import { comeToRest, createWorld, passTime, pickProcess, restart, type World } from './world.ts';

export interface ScenarioResult {
  readonly plan: Plan;
  /** What does not agree; empty when all is well. */
  readonly breaches: readonly string[];
  /** The last entries of the trace. */
  readonly trace: string;
  readonly figures: Figures;
}

/** What a scenario came across: one that meets nothing proves nothing. */
export type Figures = Readonly<
  Record<
    | 'orders'
    | 'accepted'
    | 'byEvent'
    | 'unknown'
    | 'contradictions'
    | 'requestFaults'
    | 'eventFaults'
    | 'events'
    | 'dropped'
    | 'restarts'
    | 'deaths'
    | 'rotations'
    | 'codes'
    | 'codesAccepted',
    number
  >
>;

/** One seeded scenario, from its first order to books that agree. */
export async function runScenario(seed: string): Promise<ScenarioResult> {
  const folder = mkdtempSync(join(tmpdir(), 'chaos-'));
  const world = await createWorld(seed, folder);
  const { sandbox, books, plan } = world;
  let restarts = 0;
  try {
    for (let step = 0; step < plan.steps; step++) {
      restarts += await takeStep(world);
      world.wake();
    }
    await end(world);
    await checkBooks(world);
    checkContract(world);
  } catch (error) {
    books.breach(`The scenario failed: ${error instanceof Error ? error.stack : String(error)}`);
  }
  const figures = await figuresOf(world, restarts);
  for (const process of world.processes) await process.end('stopped').catch(() => {});
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
  return { plan, breaches: books.breaches, trace: sandbox.trace.text({ last: 60 }), figures };
}

type Step = (world: World) => Promise<void>;

/** Those that are there more than once come more often. */
const steps: readonly [Step, ...Step[]] = [
  createNew,
  ...[createNew, createNew, createNew, createAgain, createAgain, createChanged, prepare],
  ...[
    goOn,
    goOn,
    goOn,
    copyEvent,
    issueCode,
    issueCode,
    resendCode,
    checkCode,
    checkCode,
    checkCode,
    rotate,
    rotate,
  ],
];

/** @returns how many processes were started again */
async function takeStep(world: World): Promise<number> {
  const { random, sandbox } = world;
  if (random.chance(0.75)) {
    await pick(random, steps)(world);
    return 0;
  }
  switch (pick(random, ['wait', 'wait', 'restart', 'outage', 'idle'])) {
    case 'wait':
      await passTime(world, pick(random, [100, 1_000, 15_000, 60_000, 130_000]));
      return 0;
    case 'restart':
      await restart(world, pickProcess(world), pick(random, ['stopped', 'killed']));
      return 1;
    case 'outage':
      world.isDown = !world.isDown && random.chance(0.5);
      return 0;
    case 'idle':
      await sandbox.idle();
      return 0;
  }
}

/** All faults are over, and everything that still comes has come. */
async function end(world: World): Promise<void> {
  const { sandbox } = world;
  world.isDown = false;
  sandbox.faults.clear();
  await endRotation(world);
  // Longer than the lease of an order, and than the cool-down of a key ring.
  await passTime(world, 180_000);
  await comeToRest(world);
}

async function figuresOf(world: World, restarts: number): Promise<Figures> {
  const { sandbox, books, flows } = world;
  const { journal, rotation } = pickProcess(world);
  const known = await Promise.all([...books.amounts.keys()].map((id) => journal.get(id)));
  const faults = [...sandbox.trace].filter(({ kind }) => kind === 'fault');
  const { keys } = await rotation.status();
  return {
    orders: sandbox.orders.length,
    accepted: known.filter((order) => order?.state === 'accepted').length,
    byEvent: known.filter((order) => order?.evidence === 'event').length,
    unknown: known.filter((order) => order?.state === 'unknown').length,
    contradictions: known.filter((order) => order?.contradiction !== undefined).length,
    requestFaults: faults.filter(({ operation }) => operation !== undefined).length,
    eventFaults: faults.filter(({ event }) => event !== undefined).length,
    events: sandbox.deliveries.length,
    dropped: sandbox.deliveries.filter(({ attempts }) => attempts === 0).length,
    restarts,
    deaths: [...books.deaths.values()].reduce((sum, count) => sum + count, 0),
    rotations: keys.length - 1,
    codes: flows.length,
    codesAccepted: flows.filter(({ accepted }) => accepted > 0).length,
  };
}
