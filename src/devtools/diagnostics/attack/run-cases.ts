import type { PostAnswer } from '../post-request.ts';
import type { Attack } from './attack-case.ts';
import { type CaseResult, skipped } from './case-result.ts';
import type { NamedCase } from './case-table.ts';
import { takesAuthentic } from './judge.ts';
import { boundsOf, entryOf, judgeEffects, type LedgerEntry } from './ledger.ts';

/** A case that has run, and what it sent. */
export interface CaseRun {
  readonly probe: NamedCase;
  outcome: CaseResult;
  readonly entries: readonly LedgerEntry[];
}

/** Runs one case, and takes down everything that it sends. */
export async function runCase(probe: NamedCase, attack: Attack): Promise<CaseRun> {
  const entries: LedgerEntry[] = [];
  const post: Attack['post'] = async (delivery) => {
    const answer = await attack.post(delivery);
    const entry = entryOf(attack.probes, delivery, answer);
    if (entry !== undefined) entries.push(entry);
    return answer;
  };
  const run: CaseRun = { probe, outcome: await probe.run({ ...attack, post }), entries };
  worsen(run, await attack.watchOrder(entries));
  return run;
}

export function notRun(probe: NamedCase, reason: string): CaseRun {
  return { probe, outcome: skipped(reason), entries: [] };
}

/** The number of forgeries after which an authentic delivery shows that the receiver still verifies. */
const mostUnproven = 40;
const refusesAll =
  'the receiver refused everything then, authentic deliveries too: lift its limit, or its ban, for the attack';
const banned: CaseResult = {
  verdict: 'broken',
  answered: 'refused, as authentic deliveries are since then',
  problem: 'banned',
};

interface Turns {
  readonly cases: readonly NamedCase[];
  readonly attack: Attack;
  readonly ended: (run: CaseRun) => Promise<void>;
  readonly lastAnswer: () => PostAnswer | undefined;
}

/** Runs the cases one after another, as long as authentic deliveries are accepted between them. */
export async function runInTurn({ cases, attack, ended, lastAnswer }: Turns): Promise<void> {
  /** Cases since an authentic delivery was last accepted. */
  let unproven: CaseRun[] = [];
  let obstacle: string | undefined;
  // A receiver that refuses the second authentic delivery, before any forgery, limits nothing.
  let canTellLimits = true;
  for (const probe of cases) {
    attack.signal?.throwIfAborted();
    if (obstacle !== undefined) {
      await ended(notRun(probe, obstacle));
      continue;
    }
    const run = await runCase(probe, attack);
    unproven.push(run);
    const isDue = run.outcome.problem === 'lost' || countForged(unproven) >= mostUnproven;
    if (isDue && canTellLimits) {
      if (await takesAuthentic(attack)) unproven = [];
      else if (countForged(unproven) === 0) canTellLimits = false;
      else {
        for (const doubtful of unproven) doubtful.outcome = skipped(refusesAll);
        run.outcome = banned;
        obstacle = refusesAll;
      }
    }
    await ended(run);
    const answer = lastAnswer();
    const isGone = answer !== undefined && answer.kind !== 'answered' && !(await answersAgain(attack));
    if (isGone) obstacle ??= `the receiver does not answer any more since ${probe.id}`;
  }
}

function countForged(runs: readonly CaseRun[]): number {
  return runs.flatMap(({ entries }) => entries).filter(({ isAuthentic }) => !isAuthentic).length;
}

/** Sends an authentic one, because a receiver may close the connection of every forgery. */
async function answersAgain({ post, probes }: Attack): Promise<boolean> {
  for (let tried = 0; tried < 2; tried++) {
    const answer = await post({ body: probes.authentic() });
    if (answer.kind === 'answered') return true;
  }
  return false;
}

/** Compares the receiver's records of every order with what was sent about it. */
export async function auditEffects(runs: readonly CaseRun[], attack: Attack): Promise<void> {
  const { handled, handles } = attack;
  if (handled === undefined || !handled.isKnown()) return;
  // `watchOrder` has judged the given one.
  const isMade = ({ orderId }: LedgerEntry) => orderId !== attack.probes.order?.partner_order_id;
  const orders = Map.groupBy(
    runs.flatMap(({ entries }) => entries.filter(isMade)),
    ({ orderId }) => orderId,
  );
  const due = new Map([...orders].map(([id, entries]) => [id, boundsOf(entries, handles).least]));
  // The time of an effect counts, so that what is never due is not waited for.
  const counts = await handled.awaited(due);
  for (const run of runs) {
    for (const id of new Set(run.entries.filter(isMade).map(({ orderId }) => orderId))) {
      // Several cases can send one order: the baseline comes again.
      worsen(run, judgeEffects(orders.get(id) ?? [], handles, counts.get(id) ?? 0));
    }
  }
}

/** What the effects show of a case, in its own words. */
function worsen(run: CaseRun, worse: CaseResult | undefined): void {
  // A weak case says what it means that the receiver accepts it.
  if (worse === undefined || run.outcome.verdict === 'broken' || run.outcome.problem === 'accepted') return;
  const fault = worse.problem && run.probe.faults?.[worse.problem];
  run.outcome = fault === undefined ? worse : { ...worse, fault, advice: run.probe.advice };
}
