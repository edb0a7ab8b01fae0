import { nearestName } from '../../../internal/nearest-name.ts';
import { invalidOption } from '../../../internal/options.ts';
import { isAccepted, type PostAnswer, unreachableBecause } from '../post-request.ts';
import type { AttackResult } from './attack-case.ts';
import { type AttackOptions, type AttackSettings, readAttackOptions } from './attack-options.ts';
import type { CaseResult } from './case-result.ts';
import { attackCases, baselineCase, type NamedCase } from './case-table.ts';
import { type AttackFinding, findCauses, type JudgedCase } from './findings.ts';
import { prepareAttack } from './prepare-attack.ts';
import { probeIdForm } from './probes.ts';
import { auditEffects, type CaseRun, notRun, runCase, runInTurn } from './run-cases.ts';

/**
 * Attacks a receiver of order events, written in any language, and judges its answers: to forged, altered, malformed,
 * huge and repeated deliveries, and to authentic ones that are easily lost. With `handled` it also judges what
 * the receiver did about each event.
 *
 * Run it against your own receiver with test keys, on a test system. It sends probes: events about orders whose ids
 * begin with `probe-`. Your code handles each authentic probe once. The first one must be answered with 2xx;
 * otherwise all other cases are skipped.
 *
 * Without `iOwnThisHost`, it attacks only this machine. Redirects are not followed.
 *
 * @throws {ConfigurationError} before anything is sent: `invalid_option` for a refused URL, host or option, or if
 *   nothing listens at the URL; `invalid_credentials`, `invalid_scheme`
 * @throws {KeyError} `keys_unavailable` for a key ring that has not read its keys
 * @example
 * ```ts
 * const { findings } = await attackReceiver('http://127.0.0.1:3000/orders', { credentials });
 * for (const { verdict, what, advice } of findings) console.log(verdict, what, advice);
 * ```
 */
export async function attackReceiver(url: string | URL, options: AttackOptions): Promise<AttackReport> {
  const settings = readAttackOptions(options);
  const { attack, target, lastAnswer } = prepareAttack(url, settings);
  const cases = chosenCases(settings);
  const runs = new Map<string, CaseRun>();
  const ended = async (run: CaseRun) => {
    runs.set(run.probe.id, run);
    const left = cases.length + 1 - runs.size;
    await settings.onCase(resultOf(run), { done: runs.size, left });
  };

  // Effects of an earlier run do not count in this one.
  await attack.watchOrder([]);
  const first = await runCase(baselineCase, attack);
  checkReachable(target, lastAnswer());
  await ended(first);
  if (!isAcknowledged(first.outcome)) {
    for (const probe of cases) await ended(notRun(probe, 'the authentic delivery before was not accepted'));
  } else {
    await runInTurn({ cases, attack, ended, lastAnswer });
    await auditEffects([...runs.values()], attack);
  }
  const inOrder = [baselineCase, ...cases].flatMap(({ id }) => runs.get(id) ?? []);
  const findings = findCauses(inOrder.map(judged));
  return { findings, results: inOrder.map(resultOf), orders: acknowledgedOrders(inOrder) };
}

/** The results of an attack. */
export interface AttackReport {
  /** The faults of the receiver: first that nothing is handled, then the worst. Cases with one cause are one finding. */
  readonly findings: readonly AttackFinding[];
  /** Each case, always in the same order. */
  readonly results: readonly AttackResult[];
  /**
   * The ids that the attack made, of orders about which the receiver acknowledged an authentic event. Its inbox and its
   * journal may keep them; they begin with `probe-`.
   */
  readonly orders: readonly string[];
}

/** Without the right effect, too: then the other cases are judged by their answers. */
function isAcknowledged({ verdict, problem }: CaseResult): boolean {
  return verdict === 'ok' || problem === 'dropped' || problem === 'forgotten' || problem === 'repeated';
}

function acknowledgedOrders(runs: readonly CaseRun[]): readonly string[] {
  const entries = runs.flatMap((run) => run.entries);
  const acknowledged = entries.filter(({ isAuthentic, answer }) => isAuthentic && isAccepted(answer));
  return [...new Set(acknowledged.map(({ orderId }) => orderId))].filter((id) => probeIdForm.test(id));
}

function resultOf(run: CaseRun): AttackResult {
  const { id, what, expected, answered, verdict, advice } = judged(run);
  return Object.freeze({ id, what, expected, answered, verdict, advice });
}

/** A result, with the words of its case where the run did not find others. */
function judged({ probe, outcome }: CaseRun): JudgedCase {
  const { id, what, expected, causes, faults } = probe;
  const { verdict, problem, fault = problem && faults?.[problem] } = outcome;
  const isFault = verdict === 'weak' || verdict === 'broken';
  const advice = isFault ? (outcome.advice ?? probe.advice) : undefined;
  return { id, what, expected, causes, ...outcome, fault, advice };
}

/** @throws {ConfigurationError} `invalid_option` if no connection could be made */
function checkReachable({ host }: URL, answer: PostAnswer | undefined): void {
  const problem = answer && unreachableBecause(answer, host);
  if (problem === undefined) return;
  const remedy = 'Start the receiver, or check the URL.';
  throw invalidOption(`${problem}, so nothing was sent.`, remedy);
}

/** @throws {ConfigurationError} `invalid_option` for an unknown id */
function chosenCases({ only, skip, quick }: AttackSettings): readonly NamedCase[] {
  const ids: readonly string[] = attackCases.map(({ id }) => id);
  for (const id of [...(only ?? []), ...skip]) {
    if (ids.includes(id) || id === baselineCase.id) continue;
    const near = nearestName(id, ids);
    throw invalidOption(
      `"${id.slice(0, 64)}" is not the id of a case.${near === undefined ? '' : ` Did you mean "${near}"?`}`,
    );
  }
  return attackCases.filter(
    ({ id, isSlow }) => (only?.includes(id) ?? !(quick && isSlow)) && !skip.includes(id),
  );
}
