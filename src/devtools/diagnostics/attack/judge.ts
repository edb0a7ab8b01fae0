import type { Verdict } from '../finding.ts';
import { describePostAnswer, type HttpAnswer, isAccepted, type PostAnswer } from '../post-request.ts';
import type { Attack, AttackCase } from './attack-case.ts';
import { type CaseResult, skipped, worstOf } from './case-result.ts';
import { causeTable } from './causes.ts';
import { isRefusal } from './ledger.ts';
import type { ProbeRequest, Probes } from './probes.ts';

interface Refused extends Pick<AttackCase, 'what' | 'advice' | 'causes' | 'faults'> {
  /** The verdict if one is accepted. @default 'broken' */
  readonly ifAccepted?: 'weak';
  /** The deliveries; an empty list if they need a merchant secret and it is missing. */
  readonly deliveries: (
    probes: Probes,
    attack: Attack,
  ) => readonly ProbeRequest[] | Promise<readonly ProbeRequest[]>;
}

/** A case in which every delivery must be refused. */
export function refused({ ifAccepted, deliveries, ...described }: Refused): AttackCase {
  return {
    ...described,
    expected: '4xx, or 503 with Retry-After',
    async run(attack) {
      const { probes, post } = attack;
      const all = await deliveries(probes, attack);
      if (all.length === 0) return skipped('there is no merchant secret');
      // Some schemes do not sign everything: the receiver cannot see such a change.
      const forged = all.filter(({ body }) => !probes.verifies(body));
      if (forged.length === 0) return skipped(notForged);
      const results: CaseResult[] = [];
      for (const delivery of forged) results.push(judgeRefusal(await post(delivery), { ifAccepted }));
      return worstOf(results);
    },
  };
}

const notForged = 'under this signature scheme it has a valid signature, so it is no forgery';

interface Accepted extends Pick<AttackCase, 'what' | 'advice' | 'causes' | 'faults'> {
  /** A body, or several requests. */
  readonly body: (probes: Probes) => string | readonly (ProbeRequest & { readonly body: string })[];
}

/** A case whose deliveries are authentic and must be accepted. */
export function accepted({ body, ...described }: Accepted): AttackCase {
  return {
    ...described,
    expected: '2xx',
    async run(attack) {
      const made = body(attack.probes);
      const all = typeof made === 'string' ? [{ body: made }] : made;
      const signed = all.filter((request) => attack.probes.verifies(request.body));
      if (signed.length === 0) return skipped('this signature scheme cannot sign it');
      const results: CaseResult[] = [];
      for (const { body: text, ...request } of signed)
        results.push(judgeAcceptance(await deliverAsService(attack, text, request)));
      return worstOf(results);
    },
  };
}

/** Sends an authentic event as the service does: again, if it is neither accepted nor refused. */
export async function deliverAsService(
  attack: Attack,
  body: string,
  request: Omit<ProbeRequest, 'body'> = {},
): Promise<PostAnswer> {
  const { first, last } = await deliverTwice(attack, body, request);
  return isAccepted(last) ? last : first;
}

/** The same, with both answers; they are one if it is sent once. */
export async function deliverTwice(
  { post, pause }: Attack,
  body: string,
  request: Omit<ProbeRequest, 'body'> = {},
): Promise<{ readonly first: PostAnswer; readonly last: PostAnswer }> {
  const first = await post({ ...request, body });
  if (first.kind === 'late' || isAccepted(first) || isRefusal(first)) return { first, last: first };
  await pause(20);
  return { first, last: await post({ ...request, body }) };
}

/** Whether the receiver still takes authentic deliveries, though it may limit their rate. */
export async function takesAuthentic(attack: Attack): Promise<boolean> {
  const answer = await deliverAsService(attack, attack.probes.authentic());
  return isAccepted(answer) || isPostponed(answer);
}

/** Whether it refuses for now: it limits rates, or reads its keys again before it calls a delivery forged. */
export function isPostponed(answer: PostAnswer): boolean {
  if (answer.kind !== 'answered') return false;
  return answer.status === 429 || (answer.status === 503 && answer.headers.has('retry-after'));
}

/**
 * Judges the answer to a delivery that a receiver must refuse.
 *
 * @param rule the verdict if it is accepted, and if the connection is closed without an answer; both `broken` by default
 */
export function judgeRefusal(
  answer: PostAnswer,
  { ifAccepted = 'broken', ifClosed }: { ifAccepted?: Verdict | undefined; ifClosed?: 'ok' } = {},
): CaseResult {
  const answered = describePostAnswer(answer);
  const sound: CaseResult = { verdict: 'ok', answered };
  if (answer.kind === 'closed' && ifClosed === 'ok') return sound;
  if (answer.kind !== 'answered') return missing(answer.kind, answered);
  if (!isAccepted(answer)) return judgeStatus(answer, answered) ?? sound;
  return ifAccepted === 'ok' ? sound : { verdict: ifAccepted, answered, problem: 'accepted' };
}

/** Judges the answer to an authentic delivery. */
export function judgeAcceptance(answer: PostAnswer): CaseResult {
  const answered = describePostAnswer(answer);
  if (isAccepted(answer)) return { verdict: 'ok', answered };
  if (answer.kind !== 'answered') return missing(answer.kind, answered);
  if (isPostponed(answer)) return skipped(rateLimited);
  return { verdict: 'broken', answered, problem: 'lost' };
}

/** Judges the answer to an authentic delivery that may also be answered with 5xx: then the service repeats it. */
export function judgeHonesty(answer: PostAnswer): CaseResult {
  const isHonest = answer.kind === 'answered' && answer.status >= 500;
  return isHonest ? { verdict: 'ok', answered: describePostAnswer(answer) } : judgeAcceptance(answer);
}

function missing(problem: 'closed' | 'late', answered: string): CaseResult {
  return { verdict: 'broken', answered, advice: adviceFor[problem], problem };
}

/** `undefined` for a proper refusal. */
function judgeStatus(answer: HttpAnswer, answered: string): CaseResult | undefined {
  const { status } = answer;
  if (status === 429) return skipped(rateLimited);
  if (isPostponed(answer)) return undefined;
  if (status >= 500) return { verdict: 'broken', answered, advice: adviceFor.failed, problem: 'failed' };
  if (status < 400) return { verdict: 'weak', answered, advice: adviceFor.redirected, problem: 'redirected' };
  return undefined;
}

const rateLimited =
  'answered 429 or 503 with Retry-After (rate limit), so nothing is known: lift the limit for the attack, or name fewer cases in `only`';

const adviceFor = {
  late: causeTable['does-not-answer'].advice,
  closed: causeTable['drops-connections'].advice,
  failed: causeTable['fails-on-forgeries'].advice,
  redirected: causeTable['redirects-forgeries'].advice,
} as const;
