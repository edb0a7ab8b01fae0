import { randomBytes } from 'node:crypto';
import { orderEventNames } from '../../../../events/event-names.ts';
import type { CaseTable } from '../attack-case.ts';
import type { CaseResult } from '../case-result.ts';
import { unsignedCauses } from '../causes.ts';
import { refused } from '../judge.ts';
import { type Probes, withSignature } from '../probes.ts';

const verifyFirst =
  'Verify the signature of every delivery before anything else, with a comparison that takes the same time for all, and refuse what does not match.';

const otherEvents: readonly string[] = [...orderEventNames.slice(1), 'event.probe.unfamiliar'];

/** Deliveries without the right signature. */
export const forgedCases = {
  unsigned: refused({
    what: 'a delivery without a signature, and an empty object',
    causes: unsignedCauses,
    advice: verifyFirst,
    deliveries: ({ unsigned }) => [{ body: unsigned() }, { body: '{}' }],
  }),
  'unsigned-with-flags': refused({
    what: 'deliveries without a signature that call themselves tests, verified, or sent from inside, in headers, members and the query',
    causes: unsignedCauses,
    advice:
      'Remove the way around the signature: whoever knows the header, the member or the query can forge, and every sender writes X-Forwarded-For itself. Give tests keys of their own.',
    deliveries: unsignedWithFlags,
  }),
  forged: refused({
    what: 'a delivery signed with another key',
    advice: verifyFirst,
    deliveries: ({ unsigned, sign }) => {
      const text = unsigned();
      return [{ body: withSignature(text, sign(text, { key: randomBytes(32).toString('hex') })) }];
    },
  }),
  'forged-other-events': refused({
    what: 'forged deliveries of every other event, and of one that the contract does not have',
    advice: verifyFirst,
    deliveries: ({ forged, unsigned }) =>
      otherEvents.map((event_name) => ({ body: forged(unsigned({ event_name })) })),
  }),
  'unsigned-other-events': refused({
    what: 'deliveries of every other event without a signature',
    causes: ['forged-other-events', ...unsignedCauses],
    advice: verifyFirst,
    deliveries: ({ unsigned }) => otherEvents.map((event_name) => ({ body: unsigned({ event_name }) })),
  }),
  'discloses-signature': {
    what: 'whether the answer to a forged delivery shows the signature that it should have had',
    expected: 'nothing of it',
    advice:
      'Never put the expected signature into an answer: it signs the forgery. Assume that forged events came through.',
    async run({ probes, post }): Promise<CaseResult> {
      const text = probes.unsigned();
      const answer = await post({ body: probes.forged(text) });
      const shown =
        answer.kind === 'answered' ? [answer.text ?? '', ...answer.headers.values()].join('\n') : '';
      // A quarter suggests that the rest can be obtained.
      if (!shown.includes(probes.sign(text).slice(0, 32)))
        return { verdict: 'ok', answered: 'it did not show it' };
      const fault = 'answers a forgery with the right signature';
      return { verdict: 'broken', answered: 'it showed it', fault };
    },
  },
} satisfies CaseTable;

function unsignedWithFlags({ unsigned }: Probes) {
  const members = {
    test: true,
    sandbox: true,
    debug: true,
    verified: true,
    skip_verification: true,
    alg: 'none',
    algorithm: 'none',
  };
  const headers = {
    'x-debug': 'true',
    'x-internal': 'true',
    'x-sandbox': 'true',
    'x-skip-signature': 'true',
    'x-skip-verification': 'true',
    'x-test': 'true',
    'x-test-mode': 'true',
    'x-verified': 'true',
    'x-webhook-test': 'true',
  };
  const inside = ['127.0.0.1', '10.0.0.1'].map((address) => ({
    body: unsigned(),
    headers: { 'x-forwarded-for': address, 'x-real-ip': address, forwarded: `for=${address}` },
  }));
  const query = 'test=true&sandbox=true&debug=true&verified=true&verify=false&skip_verification=true';
  return [{ body: unsigned(members) }, { body: unsigned(), headers }, ...inside, { body: unsigned(), query }];
}
