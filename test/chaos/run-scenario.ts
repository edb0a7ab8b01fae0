import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isForgery } from '../../src/devtools/sandbox/settings/event-faults.ts';
import type { SandboxDelivery } from '../../src/devtools/sandbox/world/delivery.ts';
import { checkBooks } from './check-books.ts';
import { checkCode, issueCode, resendCode } from './code-steps.ts';
import { endRotation, nameKeys, rotate } from './key-steps.ts';
import type { Machine } from './machine.ts';
import {
  copyEvent,
  createAgain,
  createChanged,
  createMisdirected,
  createNew,
  decide,
  goOn,
  prepare,
} from './order-steps.ts';
import { claimMs, drawPlan, type StepName } from './plan.ts';
import {
  breakDown,
  jumpClock,
  killOne,
  replayDead,
  restartOne,
  sleepOne,
  stallOne,
} from './process-steps.ts';
import { setDisk } from './sqlite-world.ts';
import { type Step, World } from './world.ts';

export interface ScenarioResult {
  /** What does not agree; empty when all is well. */
  readonly breaches: readonly string[];
  readonly trace: readonly string[];
  /** What was met: faults by kind, deaths, answers. */
  readonly figures: ReadonlyMap<string, number>;
}

/** In memory, where there is a folder for it: nothing here has to outlive the machine. */
const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const hour = 3_600_000;

/** One seeded scenario, from its first order to books that agree. */
export async function runScenario(seed: string): Promise<ScenarioResult> {
  const folder = mkdtempSync(join(scratch, 'chaos-'));
  const world = new World(drawPlan(seed), { seed, folder });
  const { simulation, books } = world;
  try {
    await during(world, world.prepare());
    await playSteps(world);
    world.calm();
    setDisk('free');
    await comeToRest(world);
    world.isDown = true;
    await during(world, checkBooks(world));
  } catch (error) {
    books.breach(`The scenario failed: ${error instanceof Error ? error.stack : String(error)}`);
  }
  for (const { machine } of world.processes) machine.kill(simulation.time);
  rmSync(folder, { recursive: true, force: true });
  world.count('simulated minutes', Math.round(simulation.time / 60_000));
  return { breaches: books.breaches, trace: simulation.trace, figures: world.figures };
}

/** Lets the world go on until this work of an observer is done. */
async function during<Result>(world: World, work: Promise<Result>): Promise<Result> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  work.then(end, end);
  if (!(await world.simulation.run(() => isOver, hour))) throw new Error('The observer waits for ever.');
  return await work;
}

const steps: Readonly<Record<StepName, Step>> = {
  ...{ createNew, createAgain, createChanged, createMisdirected, prepare, goOn, copyEvent, decide },
  ...{ issueCode, resendCode, checkCode, rotate, nameKeys },
  ...{ killOne, restartOne, stallOne, sleepOne, jumpClock, breakDown, replayDead },
};

async function playSteps(world: World): Promise<void> {
  const { simulation, plan, books } = world;
  let left = plan.steps.length;
  for (const { at, name, number } of plan.steps) {
    simulation.after(at, undefined, () => {
      simulation.log(`step ${number}: ${name}`);
      const step = async () => steps[name](world, simulation.stream(`step ${number}`));
      step()
        .catch((error: unknown) =>
          books.breach(`Step ${name} failed: ${error instanceof Error ? error.stack : String(error)}`),
        )
        .finally(() => left--);
    });
  }
  const last = plan.steps.at(-1)?.at ?? 0;
  // What waits in a dead process never ends: a while after the last step the faults are over all the same.
  await simulation.run(() => left === 0, last + 120_000);
}

/** Everything that still comes has come, and nothing is left to do. */
async function comeToRest(world: World): Promise<void> {
  const { simulation, books } = world;
  let isAtRest = false;
  let isOver = false;
  const turn = async () => {
    if (isOver) return;
    // Events that were held back are posted.
    void simulation.within(world.service, world.sandbox.idle);
    const isQuietNow = await unlessOneDies(
      world,
      async () => (await endRotation(world)) && (await isQuiet(world)),
    );
    // A count looks at one index after the other, and a delivery may move from one to the other meanwhile.
    await simulation.delay(1_000);
    isAtRest = isQuietNow && (await unlessOneDies(world, () => isQuiet(world)));
    if (!isAtRest) simulation.after(10_000, undefined, () => void turn().catch(fail));
  };
  const fail = (error: unknown) => {
    books.breach(`It does not come to rest: ${error instanceof Error ? error.stack : String(error)}`);
    isAtRest = true;
  };
  // Longer than a claim by the slowest clock, and than the cool-down of a key ring.
  const stalledMs = Math.max(0, ...world.alive().map(({ machine }) => machine.busyUntil - simulation.time));
  simulation.after(stalledMs + claimMs(world.plan) + 70_000, undefined, () => void turn().catch(fail));
  if (await simulation.run(() => isAtRest, restLimit(world))) return;
  isOver = true;
  const left = await during(world, whatIsLeft(world));
  books.breach(`It does not come to rest: ${left || undone(world)}`);
}

/** Whether all is at rest; not if a process dies, which may be the one that was asked. */
async function unlessOneDies(world: World, look: () => Promise<boolean>): Promise<boolean> {
  const died = Promise.withResolvers<boolean>();
  const forget = world.alive().map(({ machine }) => machine.onDeath(() => died.resolve(false)));
  try {
    return await Promise.race([look(), died.promise]);
  } finally {
    for (const each of forget) each();
  }
}

/** A clock that was set back by a day may keep a message waiting for as long as any delay takes. */
function restLimit({ plan }: World): number {
  return plan.clocks === 'jumping' ? 6 * hour : 3 * hour;
}

async function isQuiet(world: World): Promise<boolean> {
  const { sandbox, simulation } = world;
  if (!sandbox.deliveries.every((one) => isDone(one, world))) return false;
  if (world.alive().length < world.processes.length) return false;
  const isBusy = (machine: Machine) => machine.busyUntil > simulation.time || world.books.isHandling(machine);
  if (world.alive().some(({ machine }) => isBusy(machine))) return false;
  return (await whatIsLeft(world)) === '';
}

function undone(world: World): string {
  const left = world.sandbox.deliveries.filter((one) => !isDone(one, world));
  return left
    .map(({ id, attempts, status, faults }) => `${id} after ${attempts} (${status}) ${faults}`)
    .join();
}

/** Of a delivery that was acknowledged once, a later answer does not count. */
function isDone({ body, attempts, faults }: SandboxDelivery, { plan, books }: World): boolean {
  if (books.answers.get(body)?.includes(200) || attempts >= plan.postings) return true;
  return faults.includes('drop') || isForgery({ faults });
}

async function whatIsLeft(world: World): Promise<string> {
  const { broker, sandbox, simulation, service } = world;
  if (broker.open > 0) return `${broker.open} messages in the queue`;
  const process = world.pick();
  if (process === undefined) return 'no process';
  const { inbox, machine } = process;
  const counts = () => ('counts' in inbox ? inbox.counts() : quarantineOfQueue(world));
  const { open, quarantined = 0 } = await simulation.within(machine, counts);
  if (open > 0) return `${open} deliveries in the inbox`;
  // A forgery is only known as one once a delivery has matched the newest keys.
  const [order] = sandbox.orders;
  if (quarantined === 0 || order === undefined) return '';
  const step = order.state === 'credited' ? 'refunded' : 'credited';
  void simulation.within(service, () => sandbox.advance(order.platform_order_ref, step));
  return `${quarantined} in quarantine`;
}

async function quarantineOfQueue({ storeServer }: World): Promise<{ open: number; quarantined: number }> {
  const { length: quarantined } = await storeServer.records.list({
    prefix: 'queue/unverified/body/',
    limit: 9,
  });
  return { open: 0, quarantined };
}
