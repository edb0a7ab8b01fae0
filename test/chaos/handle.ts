import { isInboxError } from '../../src/errors/errors.ts';
import { kills, type Visit } from './books.ts';
import type { Machine } from './machine.ts';
import type { Version } from './plan.ts';
import type { World } from './world.ts';

interface HandledEvent {
  readonly context: { readonly digest: string; readonly signal?: AbortSignal | undefined };
  readonly version: Version;
}

/** A handler as people write them: quick, slow, blocking, failing, deaf to its signal. The digest decides. */
export async function handle(
  world: World,
  machine: Machine,
  { context: { digest, signal }, version }: HandledEvent,
  effect: () => Promise<'marked' | undefined>,
): Promise<void> {
  const { books, simulation } = world;
  // Nobody hears of the last words of a dead process.
  if (!machine.isAlive) return new Promise(() => {});
  const visit = books.begin(digest, machine, version);
  // Of a queue the broker decides how many, and of memory the service.
  if (
    world.plan.inbox !== 'queue' &&
    world.plan.inbox !== 'memory' &&
    books.running(machine) > version.concurrency
  )
    books.breach(`${machine.name} handles more than ${version.concurrency} at once.`);
  const isFirst = books.visits.get(digest)?.length === 1;
  // A store forgets a record when a clock jumps past its end.
  const isKnownToKill = kills(digest) && !isFirst && world.plan.clocks !== 'jumping';
  if (isKnownToKill && world.plan.inbox !== 'memory' && books.running(machine) > 1)
    books.breach(`Event ${digest.slice(0, 8)} ended a process, and did not run alone after that.`);
  simulation.log(`handles ${digest.slice(0, 8)}`);
  const onAbort = () => {
    visit.abortedAt = simulation.timeOf(machine);
    const reason: unknown = signal?.reason;
    visit.isStopped = !isInboxError(reason) || reason.code !== 'handler_timeout';
  };
  signal?.addEventListener('abort', onAbort);
  try {
    if (kills(digest)) return await world.die(machine, 'by its handler');
    if (books.fails(digest, 'before')) throw new Error('not yet');
    if ((await effect()) === 'marked') {
      // Its end is committed with its effect, whatever happens to the handler after that.
      visit.isHandled = true;
      visit.settledAt = simulation.timeOf(machine);
    }
    await simulation.delay(workMs(digest, version, isFirst), machine);
    if (digest[3] === '7') {
      simulation.stall(machine, 3_000);
    }
    if (digest[4] !== '1') signal?.throwIfAborted();
    if (books.fails(digest, 'after')) throw new Error('not yet');
    visit.isHandled = true;
  } finally {
    visit.until = simulation.timeOf(machine);
    signal?.removeEventListener('abort', onAbort);
    checkTime(world, visit);
  }
}

/** Whoever takes too long is aborted in time. */
function checkTime({ books, plan }: World, { digest, machine, from, until = from, ...visit }: Visit): void {
  const isPunctual = plan.disturbances.lateTimer === 0 && visit.abortedAt === Number.POSITIVE_INFINITY;
  const slackMs = 100;
  const isStalled = books.disturbancesOf(machine, { from, until }).some(({ kind }) => kind === 'stall');
  if (isPunctual && until - from > visit.timeLimitMs + slackMs && !isStalled)
    books.breach(`Event ${digest.slice(0, 8)} was handled for ${until - from} ms, and not aborted.`);
}

/** Most are done at once, some take nearly all of their time, few too long at first. */
function workMs(digest: string, { timeLimitMs }: Version, isFirst: boolean): number {
  const kind = digest[2] ?? '';
  if (kind === '2') return isFirst ? timeLimitMs * 1.5 : 30;
  if ('0189'.includes(kind)) return timeLimitMs * 0.8;
  return '345'.includes(kind) ? Math.min(1_500, timeLimitMs / 2) : 30;
}
