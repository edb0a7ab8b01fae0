import { isAccepted } from '../../post-request.ts';
import type { AttackCase, CaseTable } from '../attack-case.ts';
import type { CaseResult } from '../case-result.ts';
import { judgeRefusal, refused } from '../judge.ts';

const onlyPost = 'Answer 405 with Allow: POST to everything but POST, so that a wrong configuration shows.';

/** Requests other than a POST of a JSON body. */
export const requestCases = {
  'method-get': withoutBody('GET'),
  'method-head': withoutBody('HEAD'),
  'method-put': refused({
    what: 'PUT of a forged delivery',
    causes: ['answers-other-methods'],
    expected: '405',
    advice: onlyPost,
    deliveries: ({ forged }) => [{ method: 'PUT', body: forged() }],
  }),
  'method-options': {
    what: 'OPTIONS, as a browser sends it before a request of another site',
    causes: ['answers-other-methods'],
    expected: '405, or an answer that allows no other site',
    async run({ post }): Promise<CaseResult> {
      const headers = { origin: 'https://attacker.example', 'access-control-request-method': 'POST' };
      const answer = await post({ method: 'OPTIONS', headers });
      const result = judgeRefusal(answer, { ifAccepted: 'ok', advice: '' });
      const allowed =
        answer.kind === 'answered' && isAccepted(answer)
          ? answer.headers.get('access-control-allow-origin')
          : null;
      if (allowed !== '*' && allowed !== headers.origin) return result;
      return {
        verdict: 'weak',
        answered: `${result.answered}, for every site`,
        fault: 'lets every website call it from a browser',
        advice: 'Leave the callback out of CORS: no browser has a reason to call it.',
      };
    },
  },
  'content-type': refused({
    what: 'forged deliveries as text/plain, as a form, and without a content type',
    expected: '401, 400 or 415',
    advice: 'Verify whatever the content type says: the signature covers the bytes.',
    deliveries: ({ forged }) =>
      ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''].map(
        (type) => ({ body: forged(), headers: { 'content-type': type } }),
      ),
  }),
  'content-encoding': refused({
    what: 'forged deliveries that say they are compressed, and are not',
    causes: ['fails-on-not-json'],
    expected: '401, 400 or 415',
    advice: 'Verify the bytes, whatever the content encoding says.',
    deliveries: ({ forged }) =>
      ['gzip', 'br', 'unknown'].map((encoding) => ({
        body: forged(),
        headers: { 'content-encoding': encoding },
      })),
  }),
} satisfies CaseTable;

function withoutBody(method: 'GET' | 'HEAD'): AttackCase {
  return refused({
    what: `${method}, without a body`,
    causes: ['answers-other-methods'],
    expected: '405',
    ifAccepted: 'weak',
    advice: onlyPost,
    deliveries: () => [{ method }],
  });
}
