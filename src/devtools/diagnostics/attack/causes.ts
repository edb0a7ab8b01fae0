import type { Problem } from './case-result.ts';

/** How a case ended; `other` is a failure without a problem that many cases share. */
export type CaseOutcome = Problem | 'other' | 'ok';

/** Cases by their outcome. */
export type Signs<Id extends string = string> = {
  readonly [Outcome in CaseOutcome]?: readonly Id[] | 'every case';
};

/** A fault of a receiver that several cases can show. A case names the causes that can explain it. */
export interface Cause<Id extends string = string> {
  /** The cause with the lowest rank explains a case. Findings that are equally bad are in this order. */
  readonly rank: number;
  /** @default the words of the first case that shows it */
  readonly what?: string;
  /** @default the advice of its worst case */
  readonly advice?: string;
  /** The outcomes that it explains in every case. */
  readonly everywhere?: readonly CaseOutcome[];
  /** The outcomes that it explains in the cases that name it, and in the case of its own id. @default ['accepted'] */
  readonly named?: readonly CaseOutcome[];
  /** The outcomes that point to it. @default all that it explains */
  readonly shownBy?: Signs<Id>;
  /** How many of them are needed. @default 1 */
  readonly atLeast?: number;
  /** One of these is needed too. */
  readonly alongside?: Signs<Id>;
  /** These point to another cause. */
  readonly unless?: Signs<Id>;
}

const actsTwice = { everywhere: ['repeated', 'retried'], named: ['acted'] } as const;
const answeredRepetitions = [
  'repeated',
  'repeated-at-once',
  'repeated-during',
  'repeated-after-others',
  'repeated-later',
  'replayed',
] as const;
const otherValues = [
  'altered-amount',
  'altered-address',
  'altered-status',
  'altered-event-name',
  'altered-member-name',
  'altered-nested',
  'altered-added-member',
  'altered-removed-member',
] as const;

/** Every cause by the id of its finding. An id that no case has does not compile: see `case-table.ts`. */
export const causeTable = {
  'handles-nothing': {
    rank: 10,
    what: 'acknowledges genuine events, and acts on none of them',
    everywhere: ['dropped'],
    named: [],
    shownBy: { dropped: ['authentic'] },
  },
  'remembers-before-acting': {
    rank: 11,
    what: 'remembers an event before it has acted: after a failure it takes the repetition for handled',
    everywhere: ['forgotten'],
    named: ['other'],
    shownBy: { forgotten: 'every case' },
  },
  'order-id-length': {
    rank: 12,
    what: 'cuts order ids: it takes two orders for one whose ids differ at their end',
    everywhere: ['dropped', 'acted', 'repeated', 'retried'],
    named: ['dropped'],
    shownBy: { dropped: ['order-id-length'] },
  },
  'acknowledges-forgeries': {
    rank: 20,
    what: 'answers 2xx to forged deliveries, though it acts on none of them',
    advice:
      'Answer 401 to a delivery that is not authentic: the answer is all that a sender sees, and a wrong key or scheme must show.',
    everywhere: ['accepted'],
    shownBy: { accepted: ['forged'] },
    alongside: { ok: ['acted-before-verification'] },
  },
  'checks-presence': {
    rank: 21,
    what: 'checks only that there is a signature, not that it is right',
    everywhere: ['accepted'],
    shownBy: { accepted: ['forged'] },
    alongside: { ok: ['unsigned'] },
  },
  'no-verification': {
    rank: 22,
    what: 'accepts forged deliveries: it does not verify signatures, or answers before it does',
    everywhere: ['accepted'],
    shownBy: { accepted: ['forged'] },
  },
  'acted-before-verification': {
    rank: 23,
    what: 'acts before it verifies',
    advice:
      'Verify before anything is written, queued or called. A forged delivery was acted on, whatever was answered.',
    everywhere: ['acted'],
    named: ['acted'],
    shownBy: { acted: ['acted-before-verification'] },
  },
  'refuses-when-limited': {
    rank: 30,
    what: 'limits or bans by address, and then refuses genuine events',
    everywhere: ['banned'],
    named: [],
  },
  'refuses-authentic': {
    rank: 31,
    what: 'refuses authentic deliveries after the first one',
    everywhere: ['lost'],
    named: [],
    // A plain delivery was refused later.
    shownBy: { lost: ['repeated'] },
  },
  'refuses-repetitions': {
    rank: 32,
    what: 'does not acknowledge a repetition',
    named: ['lost', 'failed', 'redirected', 'other'],
    shownBy: {
      lost: answeredRepetitions,
      failed: answeredRepetitions,
      redirected: answeredRepetitions,
      other: answeredRepetitions,
    },
  },
  'acts-twice': {
    rank: 40,
    what: 'acts more than once on one delivery',
    advice: 'Act in one place, once for each delivery.',
    ...actsTwice,
    shownBy: { repeated: ['authentic-extra-members', 'authentic-signature-first', 'authentic-large'] },
    // Of one given order every event is a repetition, but the first one.
    unless: { ok: ['authentic'] },
  },
  'acts-again': {
    rank: 41,
    what: 'acts again on a repeated delivery',
    ...actsTwice,
    shownBy: { repeated: ['repeated'] },
  },
  'acts-then-fails': {
    rank: 42,
    what: 'acts on an event, answers 5xx or 3xx or not at all, and acts again when it is repeated',
    everywhere: ['retried', 'repeated'],
    named: ['acted', 'other'],
    shownBy: { retried: 'every case' },
    unless: { repeated: ['repeated-at-once'] },
  },
  'forgets-among-others': {
    rank: 43,
    what: 'acts again on a delivery after a few others: it remembers only the last ones',
    named: ['repeated'],
    shownBy: { repeated: ['repeated-after-others'] },
  },
  'acts-at-once': {
    rank: 44,
    what: 'acts twice on equal deliveries at the same time',
    advice:
      'Look up and remember in one step (a unique column): between two steps a repetition gets through.',
    named: ['repeated'],
    shownBy: { repeated: ['repeated-at-once', 'repeated-during'] },
  },
  respelled: { rank: 45, named: ['repeated'], shownBy: { repeated: ['respelled'] } },
  'repeated-later': { rank: 46, named: ['repeated'], shownBy: { repeated: ['repeated-later'] } },
  replayed: { rank: 47, named: ['repeated'], shownBy: { repeated: ['replayed'] } },
  'fails-on-forgeries': {
    rank: 50,
    what: 'answers 5xx where it must refuse',
    everywhere: ['failed'],
    shownBy: { failed: ['forged'] },
  },
  'redirects-forgeries': {
    rank: 51,
    what: 'answers with a redirect where it must refuse',
    everywhere: ['redirected'],
    shownBy: { redirected: ['forged'] },
  },
  'compares-prefix': {
    rank: 60,
    what: 'compares only the beginning of a signature (a prefix)',
    shownBy: { accepted: ['signature-last-digit'] },
    unless: { accepted: ['signature-first-digit'] },
  },
  'compares-suffix': {
    rank: 61,
    what: 'compares only the end of a signature',
    shownBy: { accepted: ['signature-first-digit'] },
    unless: { accepted: ['signature-last-digit'] },
  },
  'fails-open': {
    rank: 62,
    what: 'accepts a delivery whose signature it fails to verify (it fails open)',
    advice: 'Refuse where the check of a signature throws, as where it says no.',
    shownBy: { accepted: ['signature-not-a-digest', 'signature-not-ascii'] },
    unless: { accepted: ['signature-first-digit', 'signature-last-digit'] },
  },
  'accepts-unsigned': {
    rank: 63,
    what: 'accepts deliveries without a signature',
    shownBy: { accepted: ['unsigned'] },
  },
  'unsigned-other-events': {
    rank: 64,
    shownBy: { accepted: ['unsigned-other-events'] },
    unless: { accepted: ['forged-other-events'] },
  },
  'forged-other-events': {
    rank: 65,
    what: 'verifies only some events',
    shownBy: { accepted: ['forged-other-events'] },
  },
  're-serialises': {
    rank: 70,
    what: 'verifies the body as it writes it again, not the bytes that arrived',
    named: ['lost', 'accepted'],
    shownBy: {
      lost: ['authentic-white-space', 'authentic-escapes', 'authentic-numbers', 'authentic-integer-name'],
      accepted: [
        'altered-white-space',
        'altered-duplicate-first',
        'altered-duplicate-last',
        'altered-null-to-1e999',
        'altered-zero',
        'altered-rounded-number',
      ],
    },
    atLeast: 3,
  },
  'altered-after-signature': {
    rank: 71,
    shownBy: { accepted: ['altered-after-signature'] },
    unless: { accepted: otherValues },
  },
  'signs-a-part': {
    rank: 72,
    what: 'verifies only a part of the body: the rest can be altered',
    advice: 'Verify the signature over the whole body as it arrived, without its signature member.',
    shownBy: { accepted: [...otherValues, 'altered-after-signature'] },
  },
  'key-partner-alone': { rank: 80, shownBy: { accepted: ['key-partner-alone'] } },
  'key-missing': { rank: 81, shownBy: { accepted: ['key-missing'] } },
  'two-signatures': { rank: 82, what: 'accepts a body with two signatures' },
  'accepts-cut-signature': {
    rank: 83,
    what: 'compares a signature only as far as it goes: a part of the right one is enough',
    shownBy: { accepted: ['signature-short', 'signature-half'] },
  },
  'several-spellings': {
    rank: 84,
    what: 'accepts more than one spelling of the right signature',
    shownBy: { accepted: ['signature-respelled', 'signature-trailing', 'signature-in-array'] },
  },
  'fails-without-signature': {
    rank: 85,
    what: 'answers 5xx to a delivery without a signature',
    named: ['failed'],
    shownBy: { failed: ['unsigned'] },
  },
  'fails-on-odd-signature': {
    rank: 86,
    what: 'answers 5xx to a signature of another length, alphabet or type',
    named: ['failed'],
    atLeast: 2,
  },
  'lenient-decoding': {
    rank: 90,
    what: 'takes other bytes for the signed text: it does not decode as strict UTF-8',
  },
  'fails-on-not-json': {
    rank: 91,
    what: 'answers 5xx to a body that is not a JSON object',
    named: ['failed'],
    shownBy: { failed: ['not-json'] },
  },
  'fails-on-other-encodings': {
    rank: 92,
    what: 'answers 5xx to a body that is not UTF-8',
    named: ['failed'],
    shownBy: { failed: ['utf-16', 'invalid-utf-8'] },
  },
  'wrong-type': {
    rank: 93,
    what: 'answers 5xx to JSON that is no object',
    named: ['failed'],
    shownBy: { failed: ['wrong-type'] },
  },
  'authentic-letters': { rank: 100, named: ['lost'], shownBy: { lost: ['authentic-letters'] } },
  'authentic-large': { rank: 101, named: ['lost'], shownBy: { lost: ['authentic-large'] } },
  'refuses-unfamiliar': {
    rank: 102,
    what: 'refuses authentic events that it does not know',
    named: ['lost'],
    shownBy: { lost: ['authentic-extra-members', 'authentic-unfamiliar', 'authentic-other-shape'] },
  },
  'drops-unfamiliar': {
    rank: 103,
    what: 'drops what it does not know: it answers 2xx, and neither handles nor keeps the event',
    named: ['dropped'],
    shownBy: { dropped: ['authentic-other-shape', 'authentic-unfamiliar'] },
  },
  'forged-large': { rank: 104, shownBy: { accepted: ['forged-large'] } },
  'handled-next-event': {
    rank: 105,
    what: 'has one effect for two events of one order',
    advice:
      'Recognise a repetition by its order and its event, not by its order alone: each order has several events.',
    named: ['dropped'],
    shownBy: { dropped: ['kyc-error-first', 'refund-after-credit'] },
    atLeast: 2,
  },
  'remembers-forgeries': {
    rank: 106,
    what: 'remembers a delivery before it verifies it: a forgery makes the genuine event a repetition',
    named: ['accepted', 'dropped', 'lost'],
    shownBy: { accepted: ['forged-first'], dropped: ['forged-first'], lost: ['forged-first'] },
  },
  'does-not-answer': {
    rank: 110,
    what: 'does not answer in time',
    everywhere: ['late'],
    atLeast: 3,
  },
  'drops-connections': {
    rank: 111,
    what: 'drops the connection where it must answer',
    everywhere: ['closed'],
    atLeast: 3,
  },
} as const satisfies Readonly<Record<string, Cause>>;

export type CauseId = keyof typeof causeTable;

/** Causes of an accepted delivery without a signature. */
export const unsignedCauses: readonly CauseId[] = [
  'accepts-unsigned',
  'fails-open',
  'fails-without-signature',
];

/** A second effect of a genuine event looks like one of the forgery of its order. */
export const secondEffectCauses: readonly CauseId[] = ['acts-twice', 'acts-again', 'acts-then-fails'];
