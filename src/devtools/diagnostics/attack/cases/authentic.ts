import type { CaseTable } from '../attack-case.ts';
import { type CaseResult, worstOf } from '../case-result.ts';
import type { CauseId } from '../causes.ts';
import { accepted, deliverAsService, judgeAcceptance, judgeHonesty } from '../judge.ts';
import type { ProbeMembers, Probes } from '../probes.ts';

const verifyRawToKeep =
  'Verify the bytes as they arrived, before anything parses them. This receiver verifies what it writes again, and so loses authentic events of a sender that writes JSON differently.';
const acknowledge =
  'Acknowledge every authentic delivery with 2xx and put aside what you cannot use: one that is not acknowledged may be lost, or repeated for ever (ledger: callback-retry).';
const readAnyType =
  'Read the body whatever its content type says: the contract states no header for events, and the signature covers the bytes (ledger: event-content-type). Mount the receiver before body parsers, which choose by the content type.';

const spellings =
  'The contract names the last status both PAID and Completed (ledger: crypto-status-completed): take both for one.';

const kycError = 'event.buy.received.fiat_kyc_error';
const thirdParty = { kyc_error_type: 'THIRD_PARTY_PAYMENT', default_kyc_url: null };

const rewritten: readonly CauseId[] = ['re-serialises'];

/** Each name, each spelling and each pair of statuses that the contract states. */
const publishedEvents: readonly ProbeMembers[] = [
  { event_name: 'event.buy.init' },
  { event_name: 'event.buy.received.fiat' },
  { event_name: 'event.buy.received.fiat', payment_link: 'https://pay.example/link' },
  { event_name: kycError },
  { event_name: kycError, ...thirdParty },
  { event_name: kycError, ...thirdParty, kyc_error_type: 'THIRD_PARTY_ERROR' },
  { event_name: 'event.buy.third_party_error' },
  { event_name: 'event.buy.credited.crypto' },
  { event_name: 'buy.event.close' },
];

/** Authentic deliveries that a receiver must not lose. */
export const authenticCases = {
  'authentic-published': {
    what: 'authentic deliveries of every event that the contract states, in each of its spellings',
    causes: rewritten,
    expected: '2xx, and an effect of those that must have one',
    async run(attack) {
      const refused: string[] = [];
      const results: CaseResult[] = [];
      for (const members of publishedEvents) {
        const result = judgeAcceptance(
          await deliverAsService(attack, attack.probes.authentic(members)),
          acknowledge,
        );
        results.push(result);
        if (result.verdict === 'broken') refused.push(describeEvent(members));
      }
      const worst = worstOf(results);
      return refused.length === 0
        ? worst
        : { ...worst, fault: `does not acknowledge ${[...new Set(refused)].join(', ')}` };
    },
  },
  'authentic-third-party-error': {
    what: 'authentic deliveries of event.buy.third_party_error, whose body the contract does not show: with an order id and a message alone, and without an order id',
    causes: rewritten,
    expected: '2xx, or 5xx from a receiver that cannot keep them',
    async run(attack) {
      const { probes, post } = attack;
      const event_name = 'event.buy.third_party_error';
      const results: CaseResult[] = [];
      for (const event of [
        { event_name, partner_order_id: probes.newId(), message: 'THIRD_PARTY_ERROR' },
        { event_name, reason: 'the payer has another name' },
      ]) {
        const answer = await post({ body: probes.signed(JSON.stringify(event)) });
        const fault = `does not acknowledge ${event_name} with an unknown body`;
        results.push({ ...judgeHonesty(answer, acknowledge), fault });
      }
      return worstOf(results);
    },
  },
  'authentic-completed': accepted({
    what: 'authentic deliveries of a credit, first with the crypto_payment_status PAID and then Completed',
    causes: ['refuses-repetitions', 'respelled'],
    advice: spellings,
    faults: {
      repeated: {
        fault: 'acts twice on one credit: when its crypto_payment_status is PAID, and when it is Completed',
        advice: `Guard an effect by the order and the name of the event. ${spellings}`,
      },
    },
    body: ({ authentic, newOrder }) => {
      const credit = { ...newOrder(), event_name: 'event.buy.credited.crypto' };
      return ['PAID', 'Completed'].map((crypto_payment_status) => ({
        body: authentic({ ...credit, crypto_payment_status }),
      }));
    },
  }),
  'authentic-white-space': accepted({
    what: 'an authentic delivery with indentation',
    causes: rewritten,
    advice: verifyRawToKeep,
    body: (probes) => {
      const text = JSON.stringify(JSON.parse(probes.text()), null, 2);
      return `${text.slice(0, -2)},\n  "signature": "${probes.sign(text)}"\n}`;
    },
  }),
  'authentic-escapes': accepted({
    what: 'an authentic delivery with \\/ and \\u00e9',
    causes: rewritten,
    advice: verifyRawToKeep,
    body: (probes) => respelled(probes, 'Ren\\u00e9 \\/ Zo\\u00EB'),
  }),
  'authentic-letters': accepted({
    what: 'an authentic delivery with letters beyond ASCII as they are',
    causes: rewritten,
    advice:
      'Read and verify bodies as UTF-8. A receiver that escapes letters, or reads another encoding, verifies something else.',
    body: (probes) => respelled(probes, 'René 😀 Ọlá'),
  }),
  'authentic-quotes': accepted({
    what: "an authentic delivery with ', \" and < in the buyer's name",
    causes: rewritten,
    advice:
      'Hand values to the database as parameters and to a page as text, never as a part of a statement.',
    body: ({ authentic }) =>
      authentic({
        transactional_kyc: { email: '', phone: '', first_name: `O'Neill "Jo" <b>`, last_name: '--' },
      }),
  }),
  'authentic-combined-letters': accepted({
    what: 'authentic deliveries of one name in two forms of Unicode: with letters of one code point (NFC), and of two (NFD)',
    causes: [...rewritten, 'authentic-letters'],
    advice:
      'Verify the bytes as they arrived: normalising letters, or keeping them in another encoding, changes them.',
    body: (probes) =>
      ['NFC', 'NFD'].map((form) => ({ body: respelled(probes, 'Ọlá Adébáyọ̀ Zoë'.normalize(form)) })),
  }),
  'authentic-precise-amounts': accepted({
    what: 'an authentic delivery with amounts of more digits than a float holds',
    causes: rewritten,
    advice:
      'Verify the bytes as they arrived, and read amounts as decimals: a number of JSON has more digits than a float.',
    body: (probes) =>
      probes.signed(
        probes
          .text()
          .replace('":10,', '":123456789012345678.91,')
          .replace('":0.5,', '":0.123456789012345678901234567,'),
      ),
  }),
  'authentic-60-kilobytes': accepted({
    what: 'an authentic delivery with 60 kB of KYC text',
    causes: [...rewritten, 'authentic-large'],
    advice: 'Read bodies to their end, up to a limit of at least 64 kB, and keep texts of any length.',
    body: ({ authentic }) =>
      authentic({
        transactional_kyc: { email: '', phone: '', first_name: 'x'.repeat(60_000), last_name: '' },
      }),
  }),
  'authentic-old': accepted({
    what: 'authentic deliveries with an old Date header, and of an event that was created long ago',
    causes: rewritten,
    advice:
      'Do not refuse what is old: the service may repeat an event for days, and no event has a signed time.',
    body: ({ authentic }) => [
      { body: authentic(), headers: { date: 'Thu, 02 Jan 2020 03:04:05 GMT' } },
      { body: authentic({ event_name: kycError, created_at: '2020-01-02T03:04:05.678Z' }) },
    ],
  }),
  'authentic-large': accepted({
    what: 'an authentic delivery of 8 kB',
    causes: rewritten,
    advice: 'Read bodies to their end, up to a limit of at least 64 kB.',
    body: ({ authentic }) => authentic({ note: 'x'.repeat(8_000) }),
  }),
  'authentic-numbers': accepted({
    what: 'an authentic delivery with 10.0, 5e-1 and 20.50',
    causes: rewritten,
    advice: verifyRawToKeep,
    body: (probes) => {
      const text = probes
        .text()
        .replace('":10,', '":10.0,')
        .replace('":0.5,', '":5e-1,')
        .replace('":20,', '":20.50,');
      return probes.signed(text);
    },
  }),
  'authentic-integer-name': accepted({
    what: 'an authentic delivery whose last member is named 7, which parsing moves to the front',
    causes: rewritten,
    advice: verifyRawToKeep,
    body: (probes) => probes.signed(`${probes.text().slice(0, -1)},"7":"seven"}`),
  }),
  'authentic-signature-first': accepted({
    what: 'an authentic delivery with its signature before all other members',
    advice: 'Find the signature by its name, wherever it stands in the body.',
    body: (probes) => {
      const text = probes.text();
      return `{"signature":"${probes.sign(text)}",${text.slice(1)}`;
    },
  }),
  'authentic-nested-signature': accepted({
    what: 'an authentic delivery with another signature in a nested object, and the word in a text',
    causes: rewritten,
    advice: 'Leave out only the top-level signature: nested ones are part of what is signed.',
    body: ({ authentic }) =>
      authentic({ meta_data: { message: 'the "signature":"x" of it', signature: 'nested' } }),
  }),
  'authentic-extra-members': accepted({
    what: 'an authentic delivery with members that the contract does not have',
    causes: [...rewritten, 'refuses-unfamiliar', 'drops-unfamiliar'],
    advice: acknowledge,
    body: ({ authentic }) => authentic({ new_member: 1, another: { nested: [true, null] } }),
  }),
  'authentic-content-type': accepted({
    what: 'authentic deliveries as JSON with a charset, as text/plain, as bytes, as a form, and without a content type',
    advice: readAnyType,
    body: ({ authentic }) =>
      [
        'application/json; charset=utf-8',
        'text/plain',
        'application/octet-stream',
        'application/x-www-form-urlencoded',
        '',
      ].map((type) => ({ body: authentic(), headers: { 'content-type': type } })),
  }),
  'authentic-unknown-order': accepted({
    what: 'an authentic delivery that says an unknown order was paid',
    causes: ['refuses-unfamiliar'],
    advice: acknowledge,
    body: ({ authentic }) =>
      authentic({
        event_name: 'event.buy.received.fiat',
        fiat_payment_status: 'PAID',
        crypto_payment_status: 'STARTED',
      }),
  }),
} satisfies CaseTable;

function describeEvent({ event_name, kyc_error_type }: ProbeMembers): string {
  return kyc_error_type === undefined ? String(event_name) : `${event_name} (${kyc_error_type})`;
}

/** A delivery with the exact text of a JSON string. */
function respelled(probes: Probes, literal: string): string {
  return probes.signed(`${probes.text().slice(0, -1)},"note":"${literal}"}`);
}
