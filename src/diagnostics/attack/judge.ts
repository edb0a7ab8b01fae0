import { type Answer, describeAnswer, isAccepted } from './answer.ts';
import { type AttackVerdict, type Finding, skipped } from './attack-result.ts';

/** How to judge the answer to something that a receiver must refuse. */
export interface RefusalRule {
  /** The verdict if it is accepted all the same. @default 'broken' */
  readonly ifAccepted?: 'ok' | 'weak' | 'broken' | undefined;
  /** The verdict if the connection is closed without an answer. @default 'broken' */
  readonly ifClosed?: 'ok' | 'broken' | undefined;
  /** What to do if it is accepted. */
  readonly advice: string;
}

/** Judges the answer to something that a receiver must refuse. */
export function judgeRefusal(
  answer: Answer,
  { ifAccepted = 'broken', ifClosed = 'broken', advice }: RefusalRule,
): Finding {
  const answered = describeAnswer(answer);
  const found = (verdict: AttackVerdict, text: string): Finding =>
    verdict === 'ok' ? { verdict, answered } : { verdict, answered, advice: text };
  if (answer.kind === 'late') return found('broken', adviceFor.late);
  if (answer.kind === 'closed') return found(ifClosed, adviceFor.closed);
  if (isAccepted(answer)) return found(ifAccepted, advice);
  return judgeStatus(answer.status, answered) ?? { verdict: 'ok', answered };
}

/** Judges the answer to an authentic delivery. */
export function judgeAcceptance(answer: Answer, advice: string): Finding {
  const answered = describeAnswer(answer);
  if (isAccepted(answer)) return { verdict: 'ok', answered };
  if (answer.kind === 'late') return { verdict: 'broken', answered, advice: adviceFor.late };
  if (answer.kind === 'closed') return { verdict: 'broken', answered, advice: adviceFor.closed };
  if (answer.status === 429) return skipped(rateLimited);
  return { verdict: 'broken', answered, advice };
}

/** `undefined` for a refusal in order. */
function judgeStatus(status: number, answered: string): Finding | undefined {
  if (status === 429) return skipped(rateLimited);
  if (status >= 500) return { verdict: 'broken', answered, advice: adviceFor.failed };
  if (status < 400) return { verdict: 'weak', answered, advice: adviceFor.redirected };
  return undefined;
}

const rateLimited =
  'answered 429, so nothing is known: lift the rate limit for the attack, or name fewer cases in `only`';

const adviceFor = {
  late: 'Answer within the time that a sender waits: refuse what is malformed before any work, and give every step a time limit.',
  closed:
    'The connection broke off: look whether the process crashed, and catch what it threw. One request of a stranger must not end others.',
  failed:
    'It failed where it should refuse. Catch what this input throws and answer 400 or 401: a 5xx asks the sender to repeat it, and anybody can provoke it.',
  redirected: 'Answer 401, not a redirect: senders do not follow it, or send the body elsewhere.',
} as const;
