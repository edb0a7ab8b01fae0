import type { JsonValue } from '../../../../internal/json.ts';
import { isAccepted } from '../../post-request.ts';
import type { CaseTable } from '../attack-case.ts';
import { type CaseResult, worstOf } from '../case-result.ts';
import type { CauseId } from '../causes.ts';
import { oneOfEach } from '../effect-records.ts';
import { accepted, deliverAsService, judgeAcceptance, judgeHonesty } from '../judge.ts';
import { objectOf, orderIdOf, type ProbeMembers, type Probes } from '../probes.ts';

const verifyRaw =
  'Verify the bytes as they arrived, before anything parses them. This receiver verifies what it writes again, and so loses authentic events of a sender that writes JSON differently.';

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

const account = { account_name: 'probe-of-attack-receiver', account_number: '0000000000' };

/** Members of events that the contract does not have, or in a form that it leaves open; an absent one is left out. */
const unfamiliarEvents: Readonly<Record<string, { readonly [member: string]: JsonValue | undefined }>> = {
  'an unknown event': { event_name: 'event.probe.unfamiliar' },
  'a sell order': { event_name: 'event.sell.init' },
  'a rate as text': { exchange_rate: '20' },
  'an amount as text': { fiat_amount_to_pay: '10.00' },
  'no transactional_kyc': { transactional_kyc: undefined },
  'no bank_name': { payer_into_account: account },
  'accounts in a list': { payer_into_account: [account] },
  'an unknown status': { event_name: 'event.buy.received.fiat', crypto_payment_status: 'ON_HOLD' },
  'a third-party error without statuses': {
    event_name: 'event.buy.third_party_error',
    fiat_payment_status: undefined,
    crypto_payment_status: undefined,
  },
  'further members': { new_member: 1, another: { nested: [true, null] } },
};

/** Authentic deliveries that a receiver must not lose. */
export const authenticCases = {
  'authentic-published': {
    what: 'authentic deliveries of every event that the contract states, in each of its spellings',
    causes: rewritten,
    expected: '2xx, and an effect of those that must have one',
    advice:
      'Acknowledge every authentic delivery with 2xx and put aside what you cannot use: one that is not acknowledged may be lost, or repeated for ever (ledger: callback-retry).',
    async run(attack) {
      const refused: string[] = [];
      const results: CaseResult[] = [];
      for (const members of publishedEvents) {
        const result = judgeAcceptance(await deliverAsService(attack, attack.probes.authentic(members)));
        results.push(result);
        if (result.verdict === 'broken') refused.push(describeEvent(members));
      }
      const worst = worstOf(results);
      return refused.length === 0
        ? worst
        : { ...worst, fault: `does not acknowledge ${[...new Set(refused)].join(', ')}` };
    },
  },
  'authentic-unfamiliar': {
    what: 'authentic deliveries of events that the contract does not have, and of published ones in another shape',
    causes: rewritten,
    expected: '2xx, and handled or kept; or 5xx',
    advice:
      'Keep what your code cannot read and answer 2xx, or answer 5xx so that the service may repeat it: it is authentic, and may be about money. If it is kept where your count of effects does not look (a dead letter), count that too.',
    faults: {
      lost: 'refuses authentic events that it does not know',
      dropped: 'drops what it does not know: it answers 2xx, and neither handles nor keeps the event',
    },
    async run(attack): Promise<CaseResult> {
      const { probes, post, handles, handled } = attack;
      const results: CaseResult[] = [];
      const acknowledged = new Map<string, string>();
      for (const [form, members] of Object.entries(unfamiliarEvents)) {
        const body = probes.authentic(members);
        // Of one given order each may be kept for a person, and only the first is acted on.
        const answer = await post({ body, effect: probes.order && 'separate' });
        const { event_name } = objectOf(body) ?? {};
        if (isAccepted(answer) && handles.includes(String(event_name)))
          acknowledged.set(orderIdOf(body), form);
        results.push(judgeHonesty(answer));
      }
      const worst = worstOf(results);
      if (worst.verdict !== 'ok' || handled === undefined || !handled.isKnown()) return worst;
      const counts = await handled.awaited(oneOfEach([...acknowledged.keys()]));
      const dropped = [...acknowledged].flatMap(([id, form]) => (counts.get(id) ? [] : [form]));
      if (dropped.length === 0) return worst;
      const answered = `${worst.answered}, and nothing became of: ${dropped.join(', ')}`;
      return { verdict: 'broken', answered, problem: 'dropped' };
    },
  },
  'authentic-completed': accepted({
    what: 'authentic deliveries of a credit, first with the crypto_payment_status PAID and then Completed',
    causes: ['refuses-repetitions', 'respelled'],
    advice:
      'Guard an effect by the order and the name of the event. The contract names the last status both PAID and Completed (ledger: terminal-crypto-status): take both for one.',
    faults: {
      repeated: 'acts twice on one credit: when its crypto_payment_status is PAID, and when it is Completed',
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
    advice: verifyRaw,
    body: (probes) => {
      const text = JSON.stringify(JSON.parse(probes.text()), null, 2);
      return `${text.slice(0, -2)},\n  "signature": "${probes.sign(text)}"\n}`;
    },
  }),
  'authentic-escapes': accepted({
    what: 'an authentic delivery with \\/ and \\u00e9',
    causes: rewritten,
    advice: verifyRaw,
    body: (probes) => respelled(probes, 'Ren\\u00e9 \\/ Zo\\u00EB'),
  }),
  'authentic-letters': accepted({
    what: 'authentic deliveries with letters beyond ASCII, of one code point (NFC) and of two (NFD)',
    causes: rewritten,
    advice:
      'Read and verify bodies as UTF-8, as they arrived. A receiver that escapes or normalises letters, or reads another encoding, verifies something else.',
    body: (probes) =>
      ['NFC', 'NFD'].map((form) => ({ body: respelled(probes, 'René 😀 Ọlá Adébáyọ̀'.normalize(form)) })),
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
    what: 'authentic deliveries of 8 kB and of 60 kB',
    causes: rewritten,
    advice: 'Read bodies to their end, up to a limit of at least 64 kB, and keep texts of any length.',
    body: ({ authentic }) =>
      [8_000, 60_000].map((length) => ({
        body: authentic({
          transactional_kyc: { email: '', phone: '', first_name: 'x'.repeat(length), last_name: '' },
        }),
      })),
  }),
  'authentic-numbers': accepted({
    what: 'authentic deliveries with 10.0, 5e-1 and 20.50, and with amounts of more digits than a float holds',
    causes: rewritten,
    advice:
      'Verify the bytes as they arrived, and read amounts as decimals: a number of JSON has more digits than a float.',
    body: (probes) =>
      [
        ['":10.0,', '":5e-1,', '":20.50,'],
        ['":123456789012345678.91,', '":0.123456789012345678901234567,', '":20,'],
      ].map(([fiat = '', crypto = '', rate = '']) => {
        const text = probes.text().replace('":10,', fiat).replace('":0.5,', crypto).replace('":20,', rate);
        return { body: probes.signed(text) };
      }),
  }),
  'authentic-signature-place': accepted({
    what: 'authentic deliveries with the signature before all other members, and with another one in a nested object',
    causes: rewritten,
    advice:
      'Find the signature by its name, wherever it stands at the top level, and leave out only that one: nested ones are part of what is signed.',
    body: (probes) => {
      const text = probes.text();
      const nested = { message: 'the "signature":"x" of it', signature: 'nested' };
      return [
        { body: `{"signature":"${probes.sign(text)}",${text.slice(1)}` },
        { body: probes.authentic({ meta_data: nested }) },
      ];
    },
  }),
  'authentic-content-type': accepted({
    what: 'authentic deliveries as JSON with a charset, as text/plain, as bytes, as a form, and without a content type',
    advice:
      'Read the body whatever its content type says: the contract states no header for events, and the signature covers the bytes (ledger: event-content-type). Mount the receiver before body parsers, which choose by the content type.',
    body: ({ authentic }) =>
      [
        'application/json; charset=utf-8',
        'text/plain',
        'application/octet-stream',
        'application/x-www-form-urlencoded',
        '',
      ].map((type) => ({ body: authentic(), headers: { 'content-type': type } })),
  }),
} satisfies CaseTable;

function describeEvent({ event_name, kyc_error_type }: ProbeMembers): string {
  return kyc_error_type === undefined ? String(event_name) : `${event_name} (${kyc_error_type})`;
}

/** A delivery with the exact text of a JSON string. */
function respelled(probes: Probes, literal: string): string {
  return probes.signed(`${probes.text().slice(0, -1)},"note":"${literal}"}`);
}
