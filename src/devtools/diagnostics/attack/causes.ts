import type { Problem } from './case-result.ts';

/** How a case ended; `other` is a failure without a problem that many cases share. */
export type CaseOutcome = Problem | 'other' | 'ok';

/** Cases by their outcome. */
export type Signs<Id extends string = string> = {
  readonly [Outcome in CaseOutcome]?: readonly Id[] | 'every case';
};

/** A fault of a receiver that several cases can show. A case names the causes that can explain it. */
export interface Cause<Id extends string = string> {
  /** What the receiver does, as a clause. */
  readonly what: string;
  /** What to do, as a sentence. */
  readonly advice: string;
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

const verifyFirst =
  'Verify the signature of every delivery before anything else, and refuse what does not match.';
const guardEffects =
  'Write the effect and its guard (order and event, unique) in one transaction, and answer after it.';
const catchInput =
  'Catch what this input throws and answer 400 or 401: a 5xx asks the sender to repeat it, and anybody can provoke it.';

/**
 * Every cause by the id of its finding. The first that is shown explains a case, and findings that are equally bad are in
 * this order. An id that no case has does not compile: see `case-table.ts`.
 */
export const causeTable = {
  'handles-nothing': {
    what: 'acknowledges genuine events, and acts on none of them',
    advice:
      'Handle the event, or store it, before you answer 2xx. If your code acts on other events, name them in `handles` (--handles); if your count looks elsewhere, correct it.',
    everywhere: ['dropped'],
    named: [],
    shownBy: { dropped: ['authentic'] },
  },
  'remembers-before-acting': {
    what: 'remembers an event before it has acted: after a failure it takes the repetition for handled',
    advice:
      'Remember an event when you have acted on it, in the same transaction, not when it arrives: otherwise a failure between the two loses it.',
    everywhere: ['forgotten'],
    named: ['other'],
    shownBy: { forgotten: 'every case' },
  },
  'order-id-length': {
    what: 'cuts order ids: it takes two orders for one whose ids differ at their end',
    advice:
      'Keep order ids whole, in a column of any length (text), and refuse an order whose id does not fit.',
    everywhere: ['dropped', 'acted', 'repeated', 'retried'],
    named: ['dropped'],
    shownBy: { dropped: ['order-id-length'] },
  },
  'acknowledges-forgeries': {
    what: 'answers 2xx to forged deliveries, though it acts on none of them',
    advice:
      'Answer 401 to a delivery that is not authentic: the answer is all that a sender sees, and a wrong key or scheme must show.',
    everywhere: ['accepted'],
    shownBy: { accepted: ['forged'] },
    alongside: { ok: ['acted-before-verification'] },
  },
  'checks-presence': {
    what: 'checks only that there is a signature, not that it is right',
    advice: verifyFirst,
    everywhere: ['accepted'],
    shownBy: { accepted: ['forged'] },
    alongside: { ok: ['unsigned'] },
  },
  'no-verification': {
    what: 'accepts forged deliveries: it does not verify signatures, or answers before it does',
    advice: verifyFirst,
    everywhere: ['accepted'],
    shownBy: { accepted: ['forged'] },
  },
  'acted-before-verification': {
    what: 'acts before it verifies',
    advice:
      'Verify before anything is written, queued or called. A forged delivery was acted on, whatever was answered.',
    everywhere: ['acted'],
    named: ['acted'],
    shownBy: { acted: ['acted-before-verification'] },
  },
  'refuses-when-limited': {
    what: 'limits or bans by address, and then refuses genuine events',
    advice:
      'Answer 429 or 503 with Retry-After where you limit, and limit only what does not verify: behind a proxy all senders have one address, so a stranger could keep the service out.',
    everywhere: ['banned'],
    named: [],
  },
  'refuses-authentic': {
    what: 'refuses authentic deliveries after the first one',
    advice: 'Acknowledge every authentic delivery with 2xx: one that is not acknowledged may be lost.',
    everywhere: ['lost'],
    named: [],
    // A plain delivery was refused later.
    shownBy: { lost: ['repeated'] },
  },
  'refuses-repetitions': {
    what: 'does not acknowledge a repetition',
    advice:
      'Answer 2xx to a repetition, without handling it: a sender whose delivery is refused sends it again.',
    named: ['lost', 'failed', 'redirected', 'other'],
    shownBy: {
      lost: ['repeated', 'repeated-at-once', 'replayed'],
      failed: ['repeated', 'repeated-at-once', 'replayed'],
      redirected: ['repeated', 'repeated-at-once', 'replayed'],
      other: ['repeated', 'repeated-at-once', 'replayed'],
    },
  },
  'acts-twice': {
    what: 'acts more than once on one delivery',
    advice: 'Act in one place, once for each delivery.',
    everywhere: ['repeated', 'retried'],
    named: ['acted'],
    shownBy: { repeated: ['authentic-signature-place', 'authentic-large'] },
    // Of one given order every event is a repetition, but the first one.
    unless: { ok: ['authentic'] },
  },
  'acts-again': {
    what: 'acts again on a repeated delivery',
    advice: `Remember what was handled and look it up first. ${guardEffects}`,
    everywhere: ['repeated', 'retried'],
    named: ['acted'],
    shownBy: { repeated: ['repeated'] },
  },
  'acts-then-fails': {
    what: 'acts on an event, answers 5xx or 3xx or not at all, and acts again when it is repeated',
    advice: `${guardEffects} A sender repeats what was not answered with 2xx.`,
    everywhere: ['retried', 'repeated'],
    named: ['acted', 'other'],
    shownBy: { retried: 'every case' },
    unless: { repeated: ['repeated-at-once'] },
  },
  respelled: {
    what: 'acts again on the same event in another text: it knows repetitions by their text or signature',
    advice:
      'Know an effect by the order and the event, not by the text, its digest or its signature: a sender that repeats an event may write it anew.',
    named: ['repeated'],
    shownBy: { repeated: ['respelled'] },
  },
  replayed: {
    what: 'acts again on a delivery after many others: it remembers only the last ones',
    advice:
      'Remember more than the last deliveries: a sender can repeat one after many others, and an event has no time stamp.',
    named: ['repeated'],
    shownBy: { repeated: ['replayed'] },
  },
  'fails-on-forgeries': {
    what: 'answers 5xx where it must refuse',
    advice: catchInput,
    everywhere: ['failed'],
    shownBy: { failed: ['forged'] },
  },
  'redirects-forgeries': {
    what: 'answers with a redirect where it must refuse',
    advice: 'Answer 401, not a redirect: senders do not follow it, or send the body elsewhere.',
    everywhere: ['redirected'],
    shownBy: { redirected: ['forged'] },
  },
  'compares-prefix': {
    what: 'compares only the beginning of a signature (a prefix)',
    advice: 'Compare the whole signature, in a time that depends on nothing but its length.',
    shownBy: { accepted: ['signature-last-digit'] },
    unless: { accepted: ['signature-first-digit'] },
  },
  'accepts-cut-signature': {
    what: 'compares a signature only as far as it goes: a part of the right one is enough',
    advice: 'Check the length of a signature before you compare it.',
    shownBy: { accepted: ['signature-half'] },
    unless: { accepted: ['signature-first-digit', 'signature-last-digit'] },
  },
  'fails-open': {
    what: 'accepts a delivery whose signature it fails to verify (it fails open)',
    advice: 'Refuse where the check of a signature throws, as where it says no.',
    shownBy: { accepted: ['signature-not-a-digest'] },
    unless: { accepted: ['signature-first-digit', 'signature-last-digit'] },
  },
  'accepts-unsigned': {
    what: 'accepts deliveries without a signature',
    advice: verifyFirst,
    shownBy: { accepted: ['unsigned'] },
  },
  'unsigned-other-events': {
    what: 'verifies only some events: it accepts others without a signature',
    advice: verifyFirst,
    shownBy: { accepted: ['unsigned-other-events'] },
    unless: { accepted: ['forged-other-events'] },
  },
  'forged-other-events': {
    what: 'verifies only some events',
    advice: verifyFirst,
    shownBy: { accepted: ['forged-other-events'] },
  },
  're-serialises': {
    what: 'verifies the body as it writes it again, not the bytes that arrived',
    advice:
      'Verify the bytes as they arrived, before anything parses them: otherwise authentic events of a sender that writes JSON differently are lost, and altered ones pass.',
    named: ['lost', 'accepted'],
    shownBy: {
      lost: ['authentic-white-space', 'authentic-escapes', 'authentic-numbers'],
      accepted: [
        'altered-white-space',
        'altered-duplicate-first',
        'altered-duplicate-last',
        'altered-null-to-1e999',
        'altered-rounded-number',
      ],
    },
    atLeast: 3,
  },
  'signs-a-part': {
    what: 'verifies only a part of the body: the rest can be altered',
    advice: 'Verify the signature over the whole body as it arrived, without its signature member.',
    shownBy: {
      accepted: [
        'altered-amount',
        'altered-address',
        'altered-event-name',
        'altered-nested',
        'altered-added-member',
        'altered-after-signature',
      ],
    },
  },
  'two-signatures': {
    what: 'accepts a body with two signatures',
    advice:
      'Refuse a body with more than one top-level signature: which of them counts, and what the other one is part of, depends on the parser.',
  },
  'fails-on-odd-signature': {
    what: 'answers 5xx to a delivery without a signature, or with one of another length, alphabet or type',
    advice: catchInput,
    named: ['failed'],
  },
  'fails-on-not-json': {
    what: 'answers 5xx to a body that is no JSON object in UTF-8',
    advice: catchInput,
    named: ['failed'],
  },
  'handled-next-event': {
    what: 'has one effect for two events of one order',
    advice:
      'Recognise a repetition by its order and its event, not by its order alone: each order has several events.',
    named: ['dropped'],
    shownBy: { dropped: ['kyc-error-first', 'refund-after-credit'] },
    atLeast: 2,
  },
  'remembers-forgeries': {
    what: 'remembers a delivery before it verifies it: a forgery makes the genuine event a repetition',
    advice: 'Verify before you look an id up or remember it.',
    named: ['accepted', 'dropped', 'lost'],
    shownBy: { accepted: ['forged-first'], dropped: ['forged-first'], lost: ['forged-first'] },
  },
  'does-not-answer': {
    what: 'does not answer in time',
    advice:
      'Answer within the time that a sender waits: refuse what is malformed before any work, and give every step a time limit.',
    everywhere: ['late'],
    atLeast: 3,
  },
  'drops-connections': {
    what: 'drops the connection where it must answer',
    advice:
      'Look whether the process crashed, and catch what it threw: one request of a stranger must not end others.',
    everywhere: ['closed'],
    atLeast: 3,
  },
} as const satisfies Readonly<Record<string, Cause>>;

export type CauseId = keyof typeof causeTable;

/** Causes of an accepted delivery without a signature. */
export const unsignedCauses: readonly CauseId[] = [
  'accepts-unsigned',
  'fails-open',
  'fails-on-odd-signature',
];

/** A second effect of a genuine event looks like one of the forgery of its order. */
export const secondEffectCauses: readonly CauseId[] = ['acts-twice', 'acts-again', 'acts-then-fails'];
