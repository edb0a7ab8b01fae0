import { isAccepted } from '../../../internal/post-request.ts';
import { type AttackCase, type CaseResult, judgeRefusal, refused } from '../attack-case.ts';
import { type Probes, withSignature } from '../probes.ts';

const onlyPost = 'Answer 405 with Allow: POST to everything but POST, so that a wrong configuration shows.';

/** Requests other than a POST of a JSON body. */
export const requestCases: readonly AttackCase[] = [
  method('GET', 'weak'),
  method('HEAD', 'weak'),
  refused({
    id: 'method-put',
    what: 'PUT of a forged delivery',
    expected: '405',
    advice: onlyPost,
    deliveries: (probes) => [{ method: 'PUT', body: forged(probes) }],
  }),
  {
    id: 'method-options',
    what: 'OPTIONS, as a browser sends it before a request of another site',
    expected: '405, or an answer that allows no other site',
    async run({ post }) {
      const headers = { origin: 'https://attacker.example', 'access-control-request-method': 'POST' };
      const answer = await post({ method: 'OPTIONS', headers });
      const finding = judgeRefusal(answer, { ifAccepted: 'ok', advice: '' });
      return isAccepted(answer) && answer.kind === 'answered' ? judgeCors(answer.headers, finding) : finding;
    },
  },
  refused({
    id: 'content-type',
    what: 'forged deliveries as text/plain, as a form, and without a content type',
    expected: '401, 400 or 415',
    advice: 'Verify whatever the content type says: the signature covers the bytes.',
    deliveries: (probes) =>
      ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''].map(
        (type) => ({ body: forged(probes), headers: { 'content-type': type } }),
      ),
  }),
  refused({
    id: 'content-encoding',
    what: 'forged deliveries that say they are compressed, and are not',
    expected: '415 or 400',
    advice: 'Verify whatever the content encoding says, or answer 415.',
    deliveries: (probes) =>
      ['gzip', 'br', 'unknown'].map((encoding) => ({
        body: forged(probes),
        headers: { 'content-encoding': encoding },
      })),
  }),
];

function method(name: 'GET' | 'HEAD', ifAccepted: 'weak'): AttackCase {
  return refused({
    id: `method-${name.toLowerCase()}`,
    what: `${name}, without a body`,
    expected: '405',
    ifAccepted,
    advice: onlyPost,
    deliveries: () => [{ method: name }],
  });
}

function judgeCors(headers: Headers, finding: CaseResult): CaseResult {
  const allowed = headers.get('access-control-allow-origin');
  if (allowed !== '*' && allowed !== 'https://attacker.example') return finding;
  return {
    verdict: 'weak',
    answered: `${finding.answered}, for every site`,
    fault: 'lets every website call it from a browser',
    advice: 'Leave the callback out of CORS: no browser has a reason to call it.',
  };
}

function forged({ unsigned, sign }: Probes): string {
  return withSignature(unsigned(), sign(unsigned()));
}
