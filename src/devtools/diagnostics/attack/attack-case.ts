import type { PartnerCredentials } from '../../../credentials/partner-credentials.ts';
import { type AttackVerdict, type CheckResult, type Problem, skipped, worstOf } from '../check-result.ts';
import { describePostAnswer, type HttpAnswer, isAccepted, type PostAnswer } from '../post-request.ts';
import type { Disclosures } from './disclosures.ts';
import type { Effects } from './effect-records.ts';
import type { ProbeRequest, Probes } from './probes.ts';
import type { RawConnect } from './raw-connection.ts';
import type { Limits } from './receiver-limits.ts';

export interface Attack {
  readonly credentials: PartnerCredentials;
  readonly probes: Probes;
  /** Sends it, and sends again what was limited. */
  post(delivery: ProbeRequest): Promise<PostAnswer>;
  /** Sends it once. */
  send(delivery: ProbeRequest): Promise<PostAnswer>;
  /** Takes down a delivery that was sent over a raw connection. */
  record(delivery: ProbeRequest, answer: PostAnswer): void;
  /** Raw connections, or why there are none. */
  readonly raw: RawConnect | { readonly missing: string };
  /** The receiver's records of the orders; `undefined` if the owner gives none. */
  readonly handled: Effects | undefined;
  readonly url: string;
  readonly serviceAddresses: readonly string[];
  /** The names of the events that must have an effect. */
  readonly handles: readonly string[];
  /** The authentic delivery that began the attack. */
  readonly baseline: string;
  /** What earlier answers disclosed. */
  readonly disclosures: Disclosures;
  /** How the receiver limits what it gets. */
  readonly limits: Limits;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Rejects with the reason of the signal. */
  pause(ms: number): Promise<void>;
}

export interface AttackCase extends Pick<AttackResult, 'what' | 'expected'> {
  run(attack: Attack): Promise<CheckResult>;
  /**
   * - `quick` leaves it out.
   * - `beside`: so does it, and it runs beside the others, since it mostly waits.
   */
  readonly slow?: 'alone' | 'beside' | undefined;
  /** The words for what the receiver's records show of it. @default words for what was sent */
  readonly faults?: Readonly<Partial<Record<Problem, Pick<CheckResult, 'fault' | 'advice'>>>> | undefined;
  /** How often one run looks. A finding of a case that looks more than once is not tried again. @default 1 */
  readonly looks?: number | undefined;
}

/** Cases by their ids. */
export type CaseTable = Readonly<Record<string, AttackCase>>;

export function idsOf<Id extends string>(cases: Readonly<Record<Id, AttackCase>>): readonly Id[] {
  // Sound: the tables are literals, so they have no other keys.
  return Object.keys(cases) as Id[];
}

interface Refused extends RefusalRule {
  readonly what: string;
  /** @default '4xx, or 503 with Retry-After' */
  readonly expected?: string;
  /** The deliveries; an empty list if they need a merchant secret and there is none. */
  readonly deliveries: (probes: Probes, credentials: PartnerCredentials) => readonly ProbeRequest[];
}

/** A case in which every delivery must be refused. */
export function refused({
  what,
  expected = '4xx, or 503 with Retry-After',
  deliveries,
  ...rule
}: Refused): AttackCase {
  return {
    what,
    expected,
    async run({ probes, credentials, post }) {
      const all = deliveries(probes, credentials);
      if (all.length === 0) return skipped('there is no merchant secret');
      // Some schemes do not sign everything: the receiver cannot see such a change.
      if (all.some(({ body }) => body !== undefined && probes.verifies(body))) return skipped(notForged);
      const results: CheckResult[] = [];
      for (const delivery of all) results.push(judgeRefusal(await post(delivery), rule));
      return worstOf(results);
    },
  };
}

interface Accepted {
  readonly what: string;
  /** The advice if it is refused. */
  readonly advice: string;
  readonly body: (probes: Probes) => string;
}

/** A case whose delivery is authentic and must be accepted. */
export function accepted({ what, advice, body }: Accepted): AttackCase {
  return {
    what,
    expected: '2xx',
    async run(attack) {
      const text = body(attack.probes);
      if (!attack.probes.verifies(text)) return skipped('this signature scheme cannot sign it');
      return judgeAcceptance(await deliverAsService(attack, text), advice);
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
  if (first.kind === 'late' || isAccepted(first) || isRefused(first)) return { first, last: first };
  await pause(20);
  return { first, last: await post({ ...request, body }) };
}

/** Whether the receiver still takes authentic deliveries, though it may limit their rate. */
export async function takesAuthentic(attack: Attack): Promise<boolean> {
  const answer = await deliverAsService(attack, attack.probes.authentic());
  return isAccepted(answer) || (answer.kind === 'answered' && isLimited(answer));
}

/** Whether the answer says that the receiver will not take the delivery, however often it comes. */
export function isRefused(answer: PostAnswer): boolean {
  return answer.kind === 'answered' && answer.status >= 400 && answer.status < 500;
}

const notForged = 'under this signature scheme it has a valid signature, so it is no forgery';

/** The result of one case of {@link attackReceiver}. */
export interface AttackResult {
  /** Stable between versions: `unsigned`, `altered-amount`. */
  readonly id: string;
  /** The deliveries that were sent. */
  readonly what: string;
  /** The answer of a sound receiver. */
  readonly expected: string;
  /** The answer of this receiver, or why nothing was sent. Never its text, which may hold anything. */
  readonly answered: string;
  /** Whether the receiver withstood this attack. */
  readonly verdict: AttackVerdict;
  /** What to do; absent for `ok`. */
  readonly advice?: string | undefined;
}

/** How to judge the answer to a delivery that must be refused. */
interface RefusalRule {
  /** The verdict if it is accepted. @default 'broken' */
  readonly ifAccepted?: 'ok' | 'weak' | 'broken' | undefined;
  /** The verdict if the connection is closed without an answer. @default 'broken' */
  readonly ifClosed?: 'ok' | 'broken' | undefined;
  /** The advice if it is accepted. */
  readonly advice: string;
  /** What a receiver does that accepts it. @default 'accepts' and what was sent */
  readonly fault?: string | undefined;
}

/** Judges the answer to something that a receiver must refuse. */
export function judgeRefusal(
  answer: PostAnswer,
  { ifAccepted = 'broken', ifClosed = 'broken', advice, fault }: RefusalRule,
): CheckResult {
  const answered = describePostAnswer(answer);
  const sound: CheckResult = { verdict: 'ok', answered };
  if (answer.kind === 'late') return missing(answer.kind, answered);
  if (answer.kind === 'closed') return ifClosed === 'ok' ? sound : missing(answer.kind, answered);
  if (!isAccepted(answer)) return judgeStatus(answer, answered) ?? sound;
  return ifAccepted === 'ok' ? sound : { verdict: ifAccepted, answered, advice, problem: 'accepted', fault };
}

/** Judges the answer to an authentic delivery. */
export function judgeAcceptance(answer: PostAnswer, advice: string): CheckResult {
  const answered = describePostAnswer(answer);
  if (isAccepted(answer)) return { verdict: 'ok', answered };
  if (answer.kind !== 'answered') return missing(answer.kind, answered);
  if (isLimited(answer)) return skipped(rateLimited(answer));
  return { verdict: 'broken', answered, advice, problem: 'lost' };
}

function missing(problem: 'closed' | 'late', answered: string): CheckResult {
  return { verdict: 'broken', answered, advice: adviceFor[problem], problem };
}

/** `undefined` for a proper refusal. */
function judgeStatus(answer: HttpAnswer, answered: string): CheckResult | undefined {
  const { status, headers } = answer;
  if (isLimited(answer)) return skipped(rateLimited(answer));
  // Our webhooks answer so while newer keys are possible. A crash has no Retry-After.
  if (status === 503 && headers.has('retry-after')) return undefined;
  // "Not implemented" refuses a method (RFC 9110, 15.6.2); it is no crash.
  if (status === 501) return undefined;
  if (status >= 500) return { verdict: 'broken', answered, advice: adviceFor.failed, problem: 'failed' };
  if (status < 400) return { verdict: 'weak', answered, advice: adviceFor.redirected, problem: 'redirected' };
  return undefined;
}

function isLimited({ status, isLimited = false }: HttpAnswer): boolean {
  return status === 429 || isLimited;
}

function rateLimited({ status }: HttpAnswer): string {
  return `answered ${status} in spite of pauses (rate limit), so nothing is known: lift the limit for the attack, or name fewer cases in \`only\``;
}

const adviceFor = {
  late: 'Answer within the time that a sender waits: refuse what is malformed before any work, and give every step a time limit.',
  closed:
    'The connection broke off: look whether the process crashed, and catch what it threw. One request of a stranger must not end others.',
  failed:
    'It failed where it should refuse. Catch what this input throws and answer 400 or 401: a 5xx asks the sender to repeat it, and anybody can provoke it.',
  redirected: 'Answer 401, not a redirect: senders do not follow it, or send the body elsewhere.',
} as const;
