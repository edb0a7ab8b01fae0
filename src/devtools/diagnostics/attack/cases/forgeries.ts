import { randomBytes } from 'node:crypto';
import { orderEventNames } from '../../../../events/event-names.ts';
import { type CaseTable, idsOf, refused } from '../attack-case.ts';
import type { CauseTable } from '../cause.ts';
import { type Probes, withSignature } from '../probes.ts';
import { contextCases } from './contexts.ts';

const verifyFirst =
  'Verify the signature of every delivery before anything else, with a comparison that takes the same time for all, and refuse what does not match.';

const otherEvents: readonly string[] = [...orderEventNames.slice(1), 'event.probe.unfamiliar'];

/** Deliveries without the right signature. */
export const forgedCases = {
  unsigned: refused({
    what: 'a delivery without a signature',
    advice: verifyFirst,
    deliveries: ({ unsigned }) => [{ body: unsigned() }],
  }),
  'unsigned-with-flags': refused({
    what: 'deliveries without a signature that call themselves tests, or verified, in headers, members and the query',
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
    fault: 'verifies only some events: it accepts others without a signature',
    advice: verifyFirst,
    deliveries: ({ unsigned }) =>
      [...orderEventNames, 'event.probe.unfamiliar'].map((event_name) => ({
        body: unsigned({ event_name }),
      })),
  }),
  'signature-of-another-body': refused({
    what: 'a delivery with the right signature of another one',
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

/** What a receiver does with every forgery. */
export const forgedCauses = {
  'acknowledges-forgeries': {
    summary: 'answers 2xx to forged deliveries, though it acts on none of them',
    advice:
      'Answer 401 to a delivery that is not authentic: the answer is all that a sender sees, and a wrong key or scheme must show.',
    shownBy: { accepted: ['forged'] },
    alongside: { ok: ['acted-before-verification'] },
    explains: { accepted: 'every case' },
  },
  'checks-presence': {
    summary: 'checks only that there is a signature, not that it is right',
    shownBy: { accepted: ['forged'] },
    alongside: { ok: ['unsigned'] },
    explains: { accepted: 'every case' },
  },
  'no-verification': {
    summary: 'accepts forged deliveries: it does not verify signatures, or answers before it does',
    shownBy: { accepted: ['forged'] },
    explains: { accepted: 'every case' },
  },
  'acted-before-verification': {
    summary: 'acts before it verifies',
    advice:
      'Verify before anything is written, queued or called. A forged delivery was acted on, whatever was answered.',
    shownBy: { acted: ['acted-before-verification'] },
    explains: { acted: 'every case' },
  },
} as const satisfies CauseTable;

/** How a receiver answers in place of a refusal. */
export const forgeryCauses = {
  'fails-on-forgeries': {
    summary: 'answers 5xx where it must refuse',
    shownBy: { failed: ['forged'] },
    explains: { failed: 'every case' },
  },
  'redirects-forgeries': {
    summary: 'answers with a redirect where it must refuse',
    shownBy: { redirected: ['forged'] },
    explains: { redirected: 'every case' },
  },
} as const satisfies CauseTable;

/** Some of their deliveries have no signature. */
export const unsignedCaseIds = [
  ...idsOf(contextCases),
  'handled-after-forged-close',
  'unsigned',
  'unsigned-other-events',
  'unsigned-with-flags',
  'signature-empty',
  'signature-wrong-type',
  'signature-nested',
  'signature-inherited',
  'empty-object',
  'prototype-names',
] as const;

/** Which deliveries are verified. */
export const verifiedCauses = {
  'accepts-unsigned': {
    summary: 'accepts deliveries without a signature',
    shownBy: { accepted: ['unsigned'] },
    explains: { accepted: [...unsignedCaseIds, 'acted-before-verification'] },
  },
  'unsigned-other-events': {
    shownBy: { accepted: ['unsigned-other-events'] },
    unless: { accepted: ['forged-other-events'] },
    explains: {
      accepted: ['unsigned-other-events', 'forged-after-genuine', 'handled-after-forged-close'],
    },
  },
  'forged-other-events': {
    summary: 'verifies only some events',
    shownBy: { accepted: ['forged-other-events'] },
    explains: {
      accepted: [
        'forged-other-events',
        'unsigned-other-events',
        'forged-after-genuine',
        'delivered-signature',
        'handled-after-forgeries',
        'handled-after-forged-close',
      ],
    },
  },
} as const satisfies CauseTable;
