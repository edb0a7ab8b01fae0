import type { Attack } from './attack-case.ts';
import type { CaseResult } from './case-result.ts';
import { type AttackFinding, findCauses, type JudgedCase } from './findings.ts';
import { auditEffects, type CaseRun, runCase } from './run-cases.ts';

interface Sightings {
  readonly seen: number;
  readonly tried: number;
}

const mostTries = 3;

/**
 * Tries each finding again before it is stated. A case that does not fail again is `ok`, and the rest is explained anew,
 * until every finding that is left was seen again, or proves itself.
 */
export async function confirmFindings(
  runs: readonly CaseRun[],
  attack: Attack,
): Promise<readonly AttackFinding[]> {
  const sightings = new Map<string, Sightings>();
  for (;;) {
    const findings = findCauses(runs.map(judged));
    const run = runs.find(({ probe }) =>
      findings.some(({ cases }) => cases[0] === probe.id && !sightings.has(probe.id)),
    );
    if (run === undefined) {
      return findings.map((finding) =>
        Object.freeze({ ...finding, ...sightings.get(finding.cases[0] ?? '') }),
      );
    }
    const counts = await tryAgain(run, attack);
    sightings.set(run.probe.id, counts);
    if (counts.seen > 1 || counts.tried === 1 || isProof(run.outcome)) continue;
    const answered = `once ${run.outcome.answered}, which ${counts.tried - 1} repetitions did not show again`;
    run.outcome = { verdict: 'ok', answered };
  }
}

/** At most twice more: a third time decides about a case that did not fail again. */
async function tryAgain({ probe }: CaseRun, attack: Attack): Promise<Sightings> {
  const { looks = 1 } = probe;
  if (looks > 1) return { seen: looks, tried: looks };
  let seen = 1;
  for (let tried = 2; ; tried++) {
    const again = await runCase(probe, attack);
    await auditEffects([again], attack);
    if (isFault(again.outcome)) seen++;
    if (seen === tried || tried === mostTries) return { seen, tried };
  }
}

function isFault({ verdict }: CaseResult): boolean {
  return verdict === 'weak' || verdict === 'broken';
}

/** A sound receiver never does these, not even once; what is missing may only be late. */
const proofs: readonly unknown[] = ['accepted', 'acted', 'repeated', 'retried', 'banned'];

function isProof({ problem }: CaseResult): boolean {
  return proofs.includes(problem);
}

function judged({ probe, outcome }: CaseRun): JudgedCase {
  const { id, what, expected, causes } = probe;
  return { id, what, expected, causes, ...outcome };
}
