import { createHmac } from 'node:crypto';
import type { Words } from '../../../errors/remedies.ts';
import { isAccepted, type PostAnswer } from '../../../internal/post-request.ts';
import { type SignatureScheme, schemeParts } from '../../../signature/signature-scheme.ts';
import { type CheckResult, worstOf } from '../../check-result.ts';
import { type Attack, type AttackCase, accepted, type CaseTable, judgeAcceptance } from '../attack-case.ts';
import { type Probes, withSignature } from '../probes.ts';
import { wrongKeys } from './forgeries.ts';

/** If this authentic delivery is refused, refusals of others prove nothing. */
export const firstDelivery: AttackCase = {
  what: 'an authentic delivery, as plain as can be',
  expected: '2xx',
  async run(attack): Promise<CheckResult> {
    const answer = await attack.post({ body: attack.baseline });
    const result = judgeAcceptance(answer, adviceFor(answer, attack.say));
    const isRefused = answer.kind === 'answered' && [400, 401, 403].includes(answer.status);
    return isRefused ? { ...result, ...(await explainRefusal(attack)) } : result;
  },
};

/** Looks for the key or the scheme with which the receiver verifies instead. */
async function explainRefusal(attack: Attack): Promise<Pick<CheckResult, 'fault' | 'advice'> | undefined> {
  const { probes, credentials, post } = attack;
  const isAcceptedBy = async (sign: (text: string) => string) => {
    const text = probes.unsigned();
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

function adviceFor(answer: PostAnswer, say: Words): string {
  const status = answer.kind === 'answered' ? answer.status : 0;
  if (status === 404 || status === 405) return 'Is this the URL to which the receiver takes POST?';
  if (status >= 300 && status < 400) return 'The URL redirects: give the one that it leads to.';
  if (status >= 500) {
    return 'Its code failed: see its log. The order of the event is unknown to it: acknowledge unknown orders.';
  }
  return `Does the receiver have the same credentials (and merchant), and the same signature scheme? Explain a refused body with ${say.explain}. The order of the event is unknown to it: acknowledge unknown orders.`;
}

const verifyRawToKeep =
  'Verify the bytes as they arrived, before anything parses them. This receiver verifies what it writes again, and so loses authentic events of a sender that writes JSON differently.';
const acknowledge =
  'Acknowledge every authentic delivery with 2xx and put aside what you cannot use: one that is not acknowledged may be lost, or repeated for ever (ledger: callback-retry).';
const readAnyType =
  'Read the body whatever its content type says: the contract states no header for events, and the signature covers the bytes (ledger: event-content-type). Mount the receiver before body parsers, which choose by the content type.';

/** Authentic deliveries that a receiver must not lose. */
export const authenticCases = {
  'authentic-white-space': accepted({
    what: 'an authentic delivery with indentation',
    advice: verifyRawToKeep,
    body: (probes) => {
      const text = JSON.stringify(JSON.parse(probes.unsigned()), null, 2);
      return `${text.slice(0, -2)},\n  "signature": "${probes.sign(text)}"\n}`;
    },
  }),
  'authentic-escapes': accepted({
    what: 'an authentic delivery with \\/ and \\u00e9',
    advice: verifyRawToKeep,
    body: (probes) => respelled(probes, 'Ren\\u00e9 \\/ Zo\\u00EB'),
  }),
  'authentic-letters': accepted({
    what: 'an authentic delivery with letters beyond ASCII as they are',
    advice:
      'Read and verify bodies as UTF-8. A receiver that escapes letters, or reads another encoding, verifies something else.',
    body: (probes) => respelled(probes, 'René 😀 Ọlá'),
  }),
  'authentic-quotes': accepted({
    what: "an authentic delivery with ', \" and < in the buyer's name",
    advice:
      'Hand values to the database as parameters and to a page as text, never as a part of a statement.',
    body: ({ authentic }) =>
      authentic({
        transactional_kyc: { email: '', phone: '', first_name: `O'Neill "Jo" <b>`, last_name: '--' },
      }),
  }),
  'authentic-large': accepted({
    what: 'an authentic delivery of 8 kB',
    advice: 'Read bodies to their end, up to a limit of at least 64 kB.',
    body: ({ authentic }) => authentic({ note: 'x'.repeat(8_000) }),
  }),
  'authentic-numbers': accepted({
    what: 'an authentic delivery with 10.0, 5e-1 and 20.50',
    advice: verifyRawToKeep,
    body: (probes) => {
      const text = probes
        .unsigned()
        .replace('":10,', '":10.0,')
        .replace('":0.5,', '":5e-1,')
        .replace('":20,', '":20.50,');
      return withSignature(text, probes.sign(text));
    },
  }),
  'authentic-integer-name': accepted({
    what: 'an authentic delivery whose last member is named 7, which parsing moves to the front',
    advice: verifyRawToKeep,
    body: (probes) => {
      const text = `${probes.unsigned().slice(0, -1)},"7":"seven"}`;
      return withSignature(text, probes.sign(text));
    },
  }),
  'authentic-signature-first': accepted({
    what: 'an authentic delivery with its signature before all other members',
    advice: 'Find the signature by its name, wherever it stands in the body.',
    body: (probes) => {
      const text = probes.unsigned();
      return `{"signature":"${probes.sign(text)}",${text.slice(1)}`;
    },
  }),
  'authentic-nested-signature': accepted({
    what: 'an authentic delivery with another signature in a nested object, and the word in a text',
    advice: 'Leave out only the top-level signature: nested ones are part of what is signed.',
    body: ({ authentic }) =>
      authentic({ meta_data: { message: 'the "signature":"x" of it', signature: 'nested' } }),
  }),
  'authentic-extra-members': accepted({
    what: 'an authentic delivery with members that the contract does not have',
    advice: acknowledge,
    body: ({ authentic }) => authentic({ new_member: 1, another: { nested: [true, null] } }),
  }),
  'authentic-content-type': {
    what: 'authentic deliveries as text/plain, as bytes, as a form, and without a content type',
    expected: '2xx',
    async run({ probes, post }) {
      const results: CheckResult[] = [];
      for (const type of [
        'text/plain',
        'application/octet-stream',
        'application/x-www-form-urlencoded',
        '',
      ]) {
        const answer = await post({ body: probes.authentic(), headers: { 'content-type': type } });
        results.push(judgeAcceptance(answer, readAnyType));
      }
      return worstOf(results);
    },
  },
  'authentic-unknown-order': accepted({
    what: 'an authentic delivery that says an unknown order was paid',
    advice: acknowledge,
    body: ({ authentic }) =>
      authentic({
        event_name: 'event.buy.received.fiat',
        fiat_payment_status: 'PAID',
        crypto_payment_status: 'STARTED',
      }),
  }),
} satisfies CaseTable;

/** A delivery with the exact text of a JSON string. */
function respelled(probes: Probes, literal: string): string {
  const text = `${probes.unsigned().slice(0, -1)},"note":"${literal}"}`;
  return withSignature(text, probes.sign(text));
}
