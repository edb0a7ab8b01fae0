import type { CheckResult } from '../../check-result.ts';
import { describePostAnswer, isAccepted, type PostAnswer } from '../../post-request.ts';
import { type Attack, type AttackCase, type CaseTable, judgeRefusal } from '../attack-case.ts';
import type { Disclosure } from '../disclosures.ts';
import { orderIdOf, withSignature } from '../probes.ts';
import { strict, withOtherCharacter } from './signatures.ts';

/** Disclosures in the answers to these and all earlier cases. */
export const disclosureCases = {
  'discloses-signature': disclosure('signature', {
    what: 'whether an answer shows the signature that a forged delivery should have had',
    fault: 'answers a forgery with the right signature',
    verdict: 'broken',
    advice:
      'Never put the expected signature into an answer: it signs the forgery. Rotate nothing, but assume that forged events came through.',
  }),
  'discloses-key': disclosure('key', {
    what: 'whether an answer shows a secret key',
    fault: 'shows a secret key in its answers',
    verdict: 'broken',
    advice: 'Take the keys out of the answer, regenerate them, and assume that forged events came through.',
  }),
  'echoes-body': disclosure('body', {
    what: 'whether the answer to a refused delivery repeats what it held',
    fault: 'repeats refused deliveries in its answers',
    verdict: 'weak',
    advice: 'Answer with a fixed text: what is repeated ends up in logs, and in a browser it may run.',
  }),
  'shows-internals': disclosure('internals', {
    what: 'whether the answer to a refused delivery shows a stack trace or source files',
    fault: 'shows a stack trace or source files in its answers',
    verdict: 'weak',
    advice: 'Answer with a fixed text, and write the details to your own log.',
  }),
  'tells-refusals-apart': {
    what: 'whether the answer tells at which letter a forged signature goes wrong',
    expected: 'the same answer to all',
    run: compareRefusals,
  },
} satisfies CaseTable;

function disclosure(
  kind: Disclosure,
  found: { what: string; fault: string; verdict: 'weak' | 'broken'; advice: string },
): AttackCase {
  const { what, ...finding } = found;
  return {
    what,
    expected: 'nothing of it',
    async run({ probes, post, disclosures }) {
      const { unsigned, forged } = probes;
      const bodies = [
        unsigned(),
        forged(),
        withSignature(unsigned(), 'not a signature'),
        unsigned().slice(0, -2),
      ];
      // Whether these had an effect is the question of other cases.
      for (const body of bodies) await post({ body, carries: [] });
      return disclosures.has(kind)
        ? { ...finding, answered: 'an answer showed it' }
        : { verdict: 'ok', answered: 'no answer showed it' };
    },
  };
}

async function compareRefusals({ probes, post }: Attack): Promise<CheckResult> {
  // Sends each twice: two equal requests show which differences mean nothing (a time, a request id).
  const rounds: (readonly string[])[] = [];
  const statuses = new Set<string>();
  for (let round = 0; round < 2; round++) {
    const fingerprints: string[] = [];
    for (const place of [() => 0, half, nearEnd]) {
      // Each event is new: a receiver that remembers forgeries would take it for a repetition.
      const text = probes.unsigned();
      const right = probes.sign(text);
      const signature = withOtherCharacter(right, place(right));
      const answer = await post({ body: withSignature(text, signature), carries: [] });
      if (isAccepted(answer)) return judgeRefusal(answer, { advice: strict });
      statuses.add(describePostAnswer(answer));
      fingerprints.push(fingerprint(answer, text, signature));
    }
    rounds.push(fingerprints);
  }
  const answered = [...statuses].join(', ');
  const [first = [], second = []] = rounds;
  const isRepeatable = first.every((print, index) => print === second[index]);
  if (!isRepeatable || new Set(first).size === 1) return { verdict: 'ok', answered };
  return {
    verdict: 'broken',
    answered: `${answered}, with differences`,
    fault: 'tells in its answers at which letter a signature goes wrong',
    advice:
      'Give one and the same answer to all wrong signatures: an answer that says how far one is right lets anybody find the right one, letter by letter.',
  };
}

const half = ({ length }: string) => length >> 1;
const nearEnd = ({ length }: string) => length - 4;

/** The answer, without the values in which the deliveries differ. */
function fingerprint(answer: PostAnswer, text: string, signature: string): string {
  if (answer.kind !== 'answered') return answer.kind;
  return `${answer.status} ${(answer.text ?? '').replaceAll(signature, '').replaceAll(orderIdOf(text), '')}`;
}
