import { createHmac } from 'node:crypto';
import { type SignatureScheme, schemeParts } from '../../../../signature/signature-scheme.ts';
import { describePostAnswer, isAccepted, type PostAnswer } from '../../post-request.ts';
import type { Attack, AttackCase } from '../attack-case.ts';
import type { CaseResult } from '../case-result.ts';
import { causeTable } from '../causes.ts';
import { oneOfEach } from '../effect-records.ts';
import { deliverTwice, judgeAcceptance } from '../judge.ts';
import { orderIdOf, type Probes, withSignature } from '../probes.ts';
import { wrongKeys } from './other-keys.ts';

/** If this authentic delivery is refused, refusals of others prove nothing. */
export const firstDelivery: AttackCase = {
  what: 'an authentic delivery, as plain as can be',
  expected: '2xx, and an effect',
  causes: ['replayed'],
  advice: 'See which step of your receiver fails, with the answer and its log.',
  async run(attack): Promise<CaseResult> {
    const first = await judgeDelivery(attack, attack.baseline);
    if (first.verdict !== 'broken') return first;
    const second = await judgeDelivery(attack, attack.probes.authentic());
    if (second.verdict !== 'broken') return second;
    if (second.problem === 'dropped' || second.problem === 'forgotten') attack.handled?.giveUp();
    return second.isRefused ? { ...second, ...(await explainRefusal(attack)) } : second;
  },
};

async function judgeDelivery(
  attack: Attack,
  body: string,
): Promise<CaseResult & { readonly isRefused?: boolean }> {
  const { handled, probes } = attack;
  const { first, last } = await deliverTwice(attack, body);
  const answer = isAccepted(last) ? last : first;
  const judged = judgeAcceptance(answer);
  const result = judged.verdict === 'broken' ? { advice: adviceFor(answer), ...judged } : judged;
  const isRefused = answer.kind === 'answered' && [400, 401, 403].includes(answer.status);
  if (isRefused || handled === undefined || result.verdict === 'skipped') return { ...result, isRefused };
  const id = orderIdOf(body);
  const count = (await handled.awaited(oneOfEach([id]))).get(id) ?? 0;
  if (result.verdict === 'broken') {
    return count === 0 ? result : { ...result, ...actsAndFails(answer, count) };
  }
  if (count > 0) return result;
  const unhandled = {
    ...result,
    verdict: 'broken',
    answered: `${result.answered}, and nothing was done`,
  } as const;
  if (!isAccepted(first)) {
    return {
      ...unhandled,
      problem: 'forgotten',
      fault: `takes the repetition of an event for handled, whose first answer was ${describePostAnswer(first)}`,
      advice: causeTable['remembers-before-acting'].advice,
    };
  }
  return {
    ...unhandled,
    problem: 'dropped',
    fault: `acknowledges a genuine ${probes.event}, and nothing comes of it: your records count no effect`,
    advice: causeTable['handles-nothing'].advice,
  };
}

/** It acted, although it did not say so. */
function actsAndFails(answer: PostAnswer, count: number): Pick<CaseResult, 'fault' | 'advice'> {
  const repeated = count > 1 ? 'acts again' : 'gets it again';
  return {
    fault: `acts on a genuine event, answers ${describePostAnswer(answer)}, and ${repeated} when it is repeated`,
    advice:
      'Answer 2xx when you have acted: every other answer has the service repeat the event, and each repetition must not act again.',
  };
}

/** Looks for the key or the scheme with which the receiver verifies instead. */
async function explainRefusal(attack: Attack): Promise<Pick<CaseResult, 'fault' | 'advice'> | undefined> {
  const { probes, credentials, post } = attack;
  const isAcceptedBy = async (sign: (text: string) => string) => {
    const text = probes.text();
    return isAccepted(await post({ body: withSignature(text, sign(text)) }));
  };
  const isAcceptedWith = (other: Parameters<Probes['sign']>[1]) =>
    isAcceptedBy((text) => probes.sign(text, other));
  for (const { what, keys, advice } of Object.values(wrongKeys)) {
    for (const key of keys(credentials)) {
      if (key !== probes.key && (await isAcceptedWith({ key }))) {
        return { fault: `verifies with ${what}, and so refuses authentic deliveries`, advice };
      }
    }
  }
  for (const algorithm of ['sha256', 'sha1', 'md5']) {
    if (!(await isAcceptedBy((text) => createHmac(algorithm, probes.key).update(text).digest('hex'))))
      continue;
    return {
      fault: `verifies with HMAC-${algorithm.toUpperCase()} in place of SHA-512, and so refuses authentic deliveries`,
      advice: 'Verify with SHA-512, as the contract says (Authentication 4).',
    };
  }
  for (const { part, scheme } of neighbours(probes.scheme)) {
    if (!(await isAcceptedWith({ scheme }))) continue;
    return {
      fault: `verifies under another scheme, whose ${part} is ${scheme[part]}`,
      advice:
        'Find out from a captured event how the service signs, and give that scheme to the receiver and to the attack.',
    };
  }
  return undefined;
}

/** The schemes that differ in one part. */
function neighbours(scheme: SignatureScheme) {
  return (['construction', 'serialization', 'encoding'] as const).flatMap((part) =>
    schemeParts[part]
      .filter((value) => value !== scheme[part])
      .map((value) => ({ part, scheme: { ...scheme, [part]: value } })),
  );
}

function adviceFor(answer: PostAnswer): string {
  const status = answer.kind === 'answered' ? answer.status : 0;
  if (status === 404 || status === 405) return 'Is this the URL to which the receiver takes POST?';
  if (status >= 300 && status < 400) return 'The URL redirects: give the one that it leads to.';
  if (status >= 500) {
    return 'Its code failed: see its log. The order of the event is unknown to it: acknowledge unknown orders.';
  }
  return 'Does the receiver have the same credentials (and merchant), and the same signature scheme? Explain a refused body with explainMismatch of partner-exchange-sdk/diagnostics. The order of the event is unknown to it: acknowledge unknown orders.';
}
