import { isInboxError } from '../../src/errors/errors.ts';
import { pick } from './plan.ts';
import { setDisk } from './sqlite-world.ts';
import type { Step } from './world.ts';

export const killOne: Step = (world, random) => {
  const process = world.pick(random);
  if (process !== undefined) void world.die(process.machine, 'killed');
};

/** A rolling restart: the process is told to end, and the next version takes its place. */
export const restartOne: Step = async (world, random) => {
  const process = world.pick(random);
  if (process === undefined) return;
  const { machine } = process;
  world.simulation.log(`${machine.name} is stopped`);
  const end = await process.stop(pick(random, [0, 1_000, 30_000]));
  if (end === 'cut-off') world.count('a stop was cut off');
  await world.simulation.delay(5, machine);
  if (!machine.isAlive) return;
  machine.kill(world.simulation.time);
  world.replace(machine, world.pickVersion(random));
};

/** The machine sleeps, or its loop is blocked. */
export const stallOne: Step = (world, random) => {
  const process = world.pick(random);
  if (process === undefined) return;
  world.simulation.stall(
    process.machine,
    Math.ceil(pick(random, [1_000, 15_000, 200_000]) * random.fraction()),
  );
};

/** A process sleeps when it has taken a lease, nearly as long as its store may take to answer: others take over. */
export const sleepOne: Step = (world, random) => {
  const process = world.pick(random);
  if (process === undefined) return;
  const { machine, version } = process;
  machine.sleepsFor = Math.floor(version.storeTimeoutMs * (0.8 + 0.19 * random.fraction()));
};

export const jumpClock: Step = (world, random) => {
  const process = world.pick(random);
  if (process === undefined || world.plan.clocks !== 'jumping') return;
  const ms = pick(random, [20_000, 300_000, 86_400_000]);
  world.simulation.jump(process.machine, random.chance(0.5) ? ms : -ms);
};

/** Something is away, or full, for everybody, and comes back. */
export const breakDown: Step = async (world, random) => {
  const { simulation, storeServer } = world;
  const ms = 500 + random.fraction() * 60_000;
  const what = pick(random, ['network', 'store', 'disk']);
  simulation.log(`${what} breaks down for ${Math.round(ms)}`);
  world.isDown = what === 'network';
  storeServer.isDown = what === 'store';
  storeServer.isFull = what === 'disk';
  setDisk(what === 'disk' ? 'full' : 'free');
  if (what !== 'network')
    for (const { machine } of world.alive()) world.disturb({ kind: 'fault', machine, forMs: ms });
  await simulation.delay(ms);
  world.isDown = false;
  storeServer.isDown = false;
  storeServer.isFull = false;
  setDisk('free');
};

/** A person has looked at a dead letter, and has it tried again. */
export const replayDead: Step = async (world, random) => {
  const process = world.pick(random);
  if (process === undefined || !('replay' in process.inbox)) return;
  const { machine, inbox } = process;
  try {
    await world.simulation.within(machine, async () => {
      const letter = random.pick(await inbox.deadLetters());
      if (letter === undefined) return;
      const { replayed } = world.books;
      replayed.set(letter.digest, [...(replayed.get(letter.digest) ?? []), world.simulation.time]);
      if (await inbox.replay(letter.digest)) world.count('a dead letter was replayed');
    });
  } catch (error) {
    // In memory it is handled at once, and fails with its handler.
    if (!isInboxError(error) && world.plan.inbox !== 'memory') throw error;
  }
};
