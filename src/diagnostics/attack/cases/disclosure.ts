import { type Answer, describeAnswer, isAccepted } from '../../../internal/post-request.ts';
import type { Attack, AttackCase } from '../attack-case.ts';
import { type CaseResult, skipped } from '../attack-case.ts';
import type { Disclosure } from '../disclosures.ts';
import { withSignature } from '../probes.ts';
import { withOtherCharacter } from './signatures.ts';

/** What the answers give away. These look at the answers to all cases before them too. */
export const disclosureCases: readonly AttackCase[] = [
  disclosure('discloses-signature', 'signature', {
    what: 'whether an answer shows the signature that a forged delivery should have had',
    verdict: 'broken',
    advice:
      'Never put the expected signature into an answer: it signs the forgery. Rotate nothing, but assume that forged events came through.',
  }),
  disclosure('discloses-key', 'key', {
    what: 'whether an answer shows a secret key',
    verdict: 'broken',
    advice: 'Take the keys out of the answer, regenerate them, and assume that forged events came through.',
  }),
  disclosure('echoes-body', 'body', {
    what: 'whether the answer to a refused delivery repeats what it held',
    verdict: 'weak',
    advice: 'Answer with a fixed text: what is repeated ends up in logs, and in a browser it may run.',
  }),
  disclosure('shows-internals', 'internals', {
    what: 'whether the answer to a refused delivery shows a stack trace or source files',
    verdict: 'weak',
    advice: 'Answer with a fixed text, and write the details to your own log.',
  }),
  {
    id: 'tells-refusals-apart',
    what: 'whether the answer tells at which letter a forged signature goes wrong',
    expected: 'the same answer to all',
    run: compareRefusals,
  },
];

function disclosure(
  id: string,
  kind: Disclosure,
  { what, verdict, advice }: { what: string; verdict: 'weak' | 'broken'; advice: string },
): AttackCase {
  return {
    id,
    what,
    expected: 'nothing of it',
    async run({ probes, post, disclosures }) {
      const { unsigned, sign } = probes;
      const bodies = [
        unsigned(),
        withSignature(unsigned(), sign(unsigned())),
        withSignature(unsigned(), 'not a signature'),
        `${unsigned().slice(0, -2)}`,
      ];
      for (const body of bodies) await post({ body });
      return disclosures.has(kind)
        ? { verdict, answered: 'an answer showed it', advice }
        : { verdict: 'ok', answered: 'no answer showed it' };
    },
  };
}

async function compareRefusals({ probes, post }: Attack): Promise<CaseResult> {
  const text = probes.unsigned();
  const right = probes.sign(text);
  const wrong = [0, right.length >> 1, right.length - 4].map((at) => withOtherCharacter(right, at));
  // Twice each: what differs between equal requests (a time, a request id) tells nothing.
  const rounds: (readonly string[])[] = [];
  const statuses = new Set<string>();
  for (let round = 0; round < 2; round++) {
    const fingerprints: string[] = [];
    for (const signature of wrong) {
      const answer = await post({ body: withSignature(text, signature) });
      if (isAccepted(answer)) return skipped('a wrong signature was accepted: see the cases before');
      statuses.add(describeAnswer(answer));
      fingerprints.push(fingerprint(answer, signature));
    }
    rounds.push(fingerprints);
  }
  const answered = [...statuses].join(', ');
  const [first = [], second = []] = rounds;
  const isRepeatable = first.every((one, index) => one === second[index]);
  if (!isRepeatable || new Set(first).size === 1) return { verdict: 'ok', answered };
  return {
    verdict: 'broken',
    answered: `${answered}, with differences`,
    advice:
      'Give one and the same answer to all wrong signatures: an answer that says how far one is right lets anybody find the right one, letter by letter.',
  };
}

/** Without the signature itself, should the answer repeat it. */
function fingerprint(answer: Answer, signature: string): string {
  if (answer.kind !== 'answered') return answer.kind;
  return `${answer.status} ${(answer.text ?? '').replaceAll(signature, '')}`;
}
