import { secretKeysOf } from '../../../../credentials/define-credentials.ts';
import { describePostAnswer, type HttpAnswer, isAccepted } from '../../post-request.ts';
import type { Attack, AttackCase, CaseTable } from '../attack-case.ts';
import type { CaseResult } from '../case-result.ts';
import { isPostponed, judgeRefusal } from '../judge.ts';
import { orderIdOf, type Probes, probeMarker, withSignature } from '../probes.ts';
import { strict, withOtherCharacter } from './signatures.ts';

/** What the answers to forgeries tell. */
export const disclosureCases = {
  'discloses-signature': disclosure({
    what: 'whether an answer shows the signature that a forged delivery should have had',
    fault: 'answers a forgery with the right signature',
    verdict: 'broken',
    advice:
      'Never put the expected signature into an answer: it signs the forgery. Assume that forged events came through.',
    shows: ({ probes }, shown, body) => showsSignature(probes, shown, body),
  }),
  'discloses-key': disclosure({
    what: 'whether an answer shows a secret key',
    fault: 'shows a secret key in its answers',
    verdict: 'broken',
    advice: 'Take the keys out of the answer, regenerate them, and assume that forged events came through.',
    shows: ({ credentials, probes }, shown) =>
      [probes.key, ...secretKeysOf(credentials)].some((key) => shown.includes(key)),
  }),
  'echoes-body': disclosure({
    what: 'whether the answer to a refused delivery repeats its content',
    fault: 'repeats refused deliveries in its answers',
    verdict: 'weak',
    advice: 'Answer with a fixed text: the content ends up in logs, and in a browser it may run.',
    shows: (_, shown) => shown.includes(probeMarker),
  }),
  'tells-refusals-apart': {
    what: 'whether the answer tells at which letter a forged signature goes wrong',
    expected: 'the same answer to all',
    causes: ['compares-prefix', 'compares-suffix'],
    run: compareRefusals,
  },
} satisfies CaseTable;

interface Disclosure {
  readonly what: string;
  readonly fault: string;
  readonly verdict: 'weak' | 'broken';
  readonly advice: string;
  /** Whether the text and the headers of an answer show it. */
  readonly shows: (attack: Attack, shown: string, body: string) => boolean;
}

function disclosure({ what, shows, ...finding }: Disclosure): AttackCase {
  return {
    what,
    expected: 'nothing of it',
    async run(attack) {
      const { unsigned, forged } = attack.probes;
      const notASignature = withSignature(unsigned(), 'not a signature');
      for (const body of [unsigned(), forged(), notASignature, unsigned().slice(0, -2)]) {
        // Whether these had an effect is the question of other cases.
        const answer = await attack.post({ body, carries: [] });
        if (answer.kind !== 'answered' || isAccepted(answer)) continue;
        const shown = [answer.text ?? '', ...answer.headers.values()].join('\n');
        if (shows(attack, shown, body)) return { ...finding, answered: 'an answer showed it' };
      }
      return { verdict: 'ok', answered: 'no answer showed it' };
    },
  };
}

/** Finds it in any encoding. A quarter suggests that the rest can be obtained. */
function showsSignature({ rightSignatureOf, scheme }: Probes, shown: string, body: string): boolean {
  const signature = rightSignatureOf(body);
  if (signature === undefined) return false;
  const isHex = scheme.encoding === 'hex' || scheme.encoding === 'hex-upper';
  const bytes = Buffer.from(signature, isHex ? 'hex' : 'base64');
  const hex = bytes.toString('hex');
  return [signature, hex, hex.toUpperCase(), bytes.toString('base64'), bytes.toString('base64url')].some(
    (spelling) => shown.includes(spelling.slice(0, 32)),
  );
}

async function compareRefusals({ probes, post }: Attack): Promise<CaseResult> {
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
      // While a receiver reads its keys again it answers so to any mismatch, and 401 soon after.
      if (isPostponed(answer)) return { verdict: 'ok', answered: [...statuses].join(', ') };
      fingerprints.push(answer.kind === 'answered' ? fingerprint(answer, text, signature) : answer.kind);
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
function fingerprint({ status, text = '' }: HttpAnswer, event: string, signature: string): string {
  return `${status} ${text.replaceAll(signature, '').replaceAll(orderIdOf(event), '')}`;
}
