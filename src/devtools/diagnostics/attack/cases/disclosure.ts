import { secretKeysOf } from '../../../../credentials/define-credentials.ts';
import { isAccepted } from '../../post-request.ts';
import type { Attack, AttackCase, CaseTable } from '../attack-case.ts';
import { type Probes, withSignature } from '../probes.ts';

/** What the answers to forgeries tell. */
export const disclosureCases = {
  'discloses-signature': disclosure({
    what: 'whether an answer shows the signature that a forged delivery should have had',
    fault: 'answers a forgery with the right signature',
    advice:
      'Never put the expected signature into an answer: it signs the forgery. Assume that forged events came through.',
    shows: ({ probes }, shown, body) => showsSignature(probes, shown, body),
  }),
  'discloses-key': disclosure({
    what: 'whether an answer shows a secret key',
    fault: 'shows a secret key in its answers',
    advice: 'Take the keys out of the answer, regenerate them, and assume that forged events came through.',
    shows: ({ credentials, probes }, shown) =>
      [probes.key, ...secretKeysOf(credentials)].some((key) => shown.includes(key)),
  }),
} satisfies CaseTable;

interface Disclosure {
  readonly what: string;
  readonly fault: string;
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
        if (shows(attack, shown, body))
          return { ...finding, verdict: 'broken', answered: 'an answer showed it' };
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
