import { randomBytes } from 'node:crypto';
import { orderEventNames } from '../../../../events/event-names.ts';
import type { CaseTable } from '../attack-case.ts';
import { unsignedCauses } from '../causes.ts';
import { refused } from '../judge.ts';
import { type Probes, withSignature } from '../probes.ts';

const verifyFirst =
  'Verify the signature of every delivery before anything else, with a comparison that takes the same time for all, and refuse what does not match.';

const otherEvents: readonly string[] = [...orderEventNames.slice(1), 'event.probe.unfamiliar'];

/** Deliveries without the right signature. */
export const forgedCases = {
  unsigned: refused({
    what: 'a delivery without a signature',
    causes: unsignedCauses,
    advice: verifyFirst,
    deliveries: ({ unsigned }) => [{ body: unsigned() }],
  }),
  'unsigned-with-flags': refused({
    what: 'deliveries without a signature that call themselves tests, or verified, in headers, members and the query',
    causes: unsignedCauses,
    advice:
      'Remove the way around the signature: whoever knows the header, the member or the query can forge. Give tests keys of their own.',
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
    fault: 'verifies only some events',
    advice: verifyFirst,
    deliveries: ({ forged, unsigned }) =>
      otherEvents.map((event_name) => ({ body: forged(unsigned({ event_name })) })),
  }),
  'unsigned-other-events': refused({
    what: 'deliveries of every event without a signature',
    causes: ['forged-other-events', ...unsignedCauses],
    fault: 'verifies only some events: it accepts others without a signature',
    advice: verifyFirst,
    deliveries: ({ unsigned }) =>
      [...orderEventNames, 'event.probe.unfamiliar'].map((event_name) => ({
        body: unsigned({ event_name }),
      })),
  }),
  'signature-of-another-body': refused({
    what: 'a delivery with the right signature of another one',
    causes: ['fails-on-odd-signature'],
    advice: verifyFirst,
    deliveries: ({ forged }) => [{ body: forged() }],
  }),
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
  const query = 'test=true&sandbox=true&debug=true&verified=true&verify=false&skip_verification=true';
  return [{ body: unsigned(members) }, { body: unsigned(), headers }, { body: unsigned(), query }];
}
