import type { CheckResult, Problem } from '../check-result.ts';
import type { AttackResult } from './attack-case.ts';
import { attackCases, baselineCase, type CaseId, idsOf } from './case-table.ts';
import { alteredCases, rewrittenCases } from './cases/forgeries.ts';

/** A fault of a receiver, which one case or many show. */
export interface AttackFinding {
  /** Stays the same between versions: `re-serialises`, or the id of the one case that shows it. */
  readonly id: string;
  /** The fault, in one line: `compares only the beginning of a signature`. */
  readonly summary: string;
  /** The worst verdict of its cases. */
  readonly verdict: 'weak' | 'broken';
  /** The ids of the cases that show it. */
  readonly cases: readonly string[];
  /** What to do. */
  readonly advice: string;
}

/** A case, its result, and how it went wrong. */
export type JudgedCase = AttackResult & Pick<CheckResult, 'problem' | 'fault'> & { readonly id: CaseId };

/** Cases by their outcome; `other` is a failure without a problem that many cases share. */
type Signs = { readonly [Outcome in Problem | 'other' | 'ok']?: readonly CaseId[] };

/** A cause that several cases show. */
interface Cause {
  readonly summary: string;
  /** @default the advice of its worst case */
  readonly advice?: string;
  readonly explains: Signs;
  /** The outcomes that point to it. @default those that it explains */
  readonly shownBy?: Signs;
  /** How many of them are needed. @default 1 */
  readonly atLeast?: number;
  /** At least one of these is needed too. */
  readonly alongside?: Signs;
  /** Outcomes that point to another cause. */
  readonly unless?: Signs;
}

/** The fewest causes that explain all results that are weak or broken, the worst first. */
export function findCauses(results: readonly JudgedCase[]): readonly AttackFinding[] {
  const findings: AttackFinding[] = [];
  let left = results.filter(isFailed);
  for (const [id, cause] of Object.entries<Cause>(attackCauses)) {
    if (!applies(cause, results)) continue;
    const explained = left.filter((failure) => matches(cause.explains, failure));
    if (explained.length === 0) continue;
    left = left.filter((failure) => !explained.includes(failure));
    findings.push(finding(id, cause.summary, explained, cause.advice));
  }
  for (const failure of left) findings.push(finding(failure.id, summaryOf(failure), [failure]));
  return findings.toSorted((first, second) => rank(first) - rank(second));
}

type FailedCase = JudgedCase & { readonly verdict: 'weak' | 'broken' };

function isFailed(result: JudgedCase): result is FailedCase {
  return result.verdict === 'weak' || result.verdict === 'broken';
}

function applies(
  { explains, shownBy = explains, atLeast = 1, alongside, unless = {} }: Cause,
  results: readonly JudgedCase[],
): boolean {
  const count = (signs: Signs) => results.filter((result) => matches(signs, result)).length;
  if (alongside !== undefined && count(alongside) === 0) return false;
  return count(unless) === 0 && count(shownBy) >= atLeast;
}

function matches(signs: Signs, result: JudgedCase): boolean {
  if (result.verdict === 'skipped') return false;
  const outcome = isFailed(result) ? (result.problem ?? 'other') : 'ok';
  return signs[outcome]?.includes(result.id) ?? false;
}

function rank({ verdict }: AttackFinding): number {
  return verdict === 'broken' ? 0 : 1;
}

function finding(id: string, summary: string, cases: readonly FailedCase[], advice?: string): AttackFinding {
  const worst = cases.find(({ verdict }) => verdict === 'broken') ?? cases[0];
  return Object.freeze({
    id,
    summary,
    verdict: worst?.verdict ?? 'weak',
    cases: cases.map((failure) => failure.id),
    advice: advice ?? worst?.advice ?? '',
  });
}

function summaryOf({ fault, problem, what, answered, id }: FailedCase): string {
  if (fault !== undefined) return fault;
  switch (problem) {
    case 'accepted':
      return `accepts ${what}`;
    case 'lost':
      return `refuses ${what}`;
    case 'dropped':
      return `drops ${what}`;
    case 'failed':
    case 'redirected':
      return `answers ${answered} to ${what}`;
    case 'closed':
      return `drops the connection after ${what}`;
    case 'late':
      return `does not answer ${what}`;
    case undefined:
      return id;
  }
}

const all: readonly CaseId[] = [baselineCase.id, ...attackCases.map(({ id }) => id)];
const alteredValues = idsOf(alteredCases);
const rewritten = idsOf(rewrittenCases);
const encodings = ['byte-order-mark', 'utf-16', 'invalid-utf-8'] as const;
const lengths = ['length-too-long', 'length-too-short'] as const;
const repetitions: readonly CaseId[] = ['repeated', 'repeated-at-once', 'replayed'];
const lengthsOfSignature = ['signature-short', 'signature-half', 'signature-long'] as const;
const spellings = ['signature-respelled', 'signature-trailing', 'signature-in-array'] as const;
const undecodable = ['signature-not-a-digest', 'signature-not-ascii'] as const;
const twoSignatures = ['signatures-first-right', 'signatures-last-right', 'signatures-escaped'] as const;
const misplaced = [
  'signature-empty',
  'signature-wrong-type',
  'signature-nested',
  'signature-inherited',
] as const;
const withoutSignature = [
  ...misplaced,
  'unsigned',
  'unsigned-with-flags',
  'empty-object',
  'prototype-names',
] as const;
/** A receiver that writes a body again spells these differently. */
const otherSpellings = [
  'authentic-white-space',
  'authentic-escapes',
  'authentic-numbers',
  'authentic-integer-name',
] as const;

/** In this order: the cause that explains most comes first. */
export const attackCauses = {
  'acknowledges-forgeries': {
    summary: 'answers 2xx to forged deliveries, though it acts on none of them',
    advice:
      'Answer 401 to a delivery that is not authentic: the answer is all that a sender sees, and a wrong key or scheme must show.',
    shownBy: { accepted: ['forged'] },
    alongside: { ok: ['acted-before-verification'] },
    explains: { accepted: all },
  },
  'checks-presence': {
    summary: 'checks only that there is a signature, not that it is right',
    shownBy: { accepted: ['forged'] },
    alongside: { ok: ['unsigned'] },
    explains: { accepted: all },
  },
  'no-verification': {
    summary: 'accepts forged deliveries: it does not verify signatures, or answers before it does',
    shownBy: { accepted: ['forged'] },
    explains: { accepted: all },
  },
  'fails-on-forgeries': {
    summary: 'answers 5xx where it must refuse',
    shownBy: { failed: ['forged'] },
    explains: { failed: all.filter((id) => !repetitions.includes(id)) },
  },
  'redirects-forgeries': {
    summary: 'answers with a redirect where it must refuse',
    shownBy: { redirected: ['forged'] },
    explains: { redirected: all },
  },
  'refuses-authentic': {
    summary: 'refuses authentic deliveries after the first one',
    // It shows that even a plain delivery is refused later.
    shownBy: { lost: ['repeated'] },
    explains: { lost: all },
  },
  'compares-prefix': {
    summary: 'compares only the beginning of a signature (a prefix)',
    shownBy: { accepted: ['signature-last-digit'] },
    unless: { accepted: ['signature-first-digit'] },
    explains: {
      accepted: [
        'signature-middle-digit',
        'signature-last-digit',
        ...lengthsOfSignature,
        ...spellings,
        'tells-refusals-apart',
      ],
    },
  },
  'compares-suffix': {
    summary: 'compares only the end of a signature',
    shownBy: { accepted: ['signature-first-digit'] },
    unless: { accepted: ['signature-last-digit'] },
    explains: {
      accepted: ['signature-first-digit', 'signature-middle-digit', 'signature-long', 'tells-refusals-apart'],
    },
  },
  'fails-open': {
    summary: 'accepts a delivery whose signature it fails to verify (it fails open)',
    advice: 'Refuse where the check of a signature throws, as where it says no.',
    shownBy: { accepted: undecodable },
    unless: { accepted: ['signature-first-digit', 'signature-last-digit'] },
    explains: {
      accepted: [
        ...undecodable,
        ...withoutSignature,
        ...lengthsOfSignature,
        ...spellings,
        ...twoSignatures,
        'lone-surrogate',
        'acted-before-verification',
      ],
    },
  },
  'accepts-unsigned': {
    summary: 'accepts deliveries without a signature',
    shownBy: { accepted: ['unsigned'] },
    explains: { accepted: [...withoutSignature, 'acted-before-verification'] },
  },
  're-serialises': {
    summary: 'verifies the body as it writes it again, not the bytes that arrived',
    shownBy: { lost: otherSpellings, accepted: rewritten },
    atLeast: 3,
    explains: {
      lost: [
        ...otherSpellings,
        'authentic-letters',
        'authentic-quotes',
        'authentic-large',
        'authentic-extra-members',
        'authentic-nested-signature',
        // A member is lost on the way, or a missing one is written.
        'authentic-other-shape',
      ],
      accepted: [...rewritten, 'altered-added-member', ...twoSignatures],
    },
  },
  'two-signatures': {
    summary: 'accepts a body with two signatures',
    explains: { accepted: twoSignatures },
  },
  'signs-a-part': {
    summary: 'verifies only a part of the body: the rest can be altered',
    advice: 'Verify the signature over the whole body as it arrived, without its signature member.',
    shownBy: { accepted: alteredValues },
    explains: { accepted: [...alteredValues, ...rewritten] },
  },
  'accepts-cut-signature': {
    summary: 'compares a signature only as far as it goes: a part of the right one is enough',
    shownBy: { accepted: ['signature-short', 'signature-half'] },
    explains: {
      accepted: ['signature-empty', ...lengthsOfSignature, 'signature-trailing', 'acted-before-verification'],
    },
  },
  'several-spellings': {
    summary: 'accepts more than one spelling of the right signature',
    shownBy: { accepted: spellings },
    explains: { accepted: [...spellings, 'signature-long'] },
  },
  'lenient-decoding': {
    summary: 'takes other bytes for the signed text: it does not decode as strict UTF-8',
    explains: { accepted: encodings },
  },
  'fails-without-signature': {
    summary: 'answers 5xx to a delivery without a signature',
    shownBy: { failed: ['unsigned'] },
    explains: { failed: withoutSignature },
  },
  'fails-on-odd-signature': {
    summary: 'answers 5xx to a signature of another length, alphabet or type',
    atLeast: 2,
    explains: {
      failed: [
        'signature-first-digit',
        'signature-middle-digit',
        'signature-last-digit',
        ...lengthsOfSignature,
        ...undecodable,
        ...spellings,
        ...misplaced,
        'signature-of-another-body',
        'signature-escaped-name',
      ],
    },
  },
  'fails-on-not-json': {
    summary: 'answers 5xx to a body that is not a JSON object',
    shownBy: { failed: ['not-json'] },
    explains: {
      failed: [
        'not-json',
        'empty-body',
        'wrong-type',
        'empty-object',
        'content-encoding',
        'deep-nesting',
        ...lengths,
        'length-and-chunks',
        ...encodings,
      ],
    },
  },
  'fails-on-other-encodings': {
    summary: 'answers 5xx to a body that is not UTF-8',
    explains: { failed: encodings },
  },
  'refuses-unfamiliar': {
    summary: 'refuses authentic events that it does not know',
    explains: {
      lost: [
        'authentic-extra-members',
        'authentic-unfamiliar',
        'authentic-other-shape',
        'authentic-unknown-order',
      ],
    },
  },
  'drops-unfamiliar': {
    summary: 'drops what it does not know: it answers 2xx, and neither handles nor keeps the event',
    explains: { dropped: all },
  },
  'refuses-repetitions': {
    summary: 'does not acknowledge a repetition',
    explains: { lost: repetitions, failed: repetitions, redirected: repetitions, other: repetitions },
  },
  'remembers-forgeries': {
    summary: 'remembers a delivery before it verifies it: a forgery makes the genuine event a repetition',
    explains: {
      accepted: ['forged-first', 'handled-after-forgeries'],
      lost: ['forged-first', 'handled-after-forgeries'],
      other: ['forged-first', 'handled-after-forgeries'],
    },
  },
  'reads-one-piece': {
    summary: 'reads only the first piece of a body',
    shownBy: { lost: ['in-pieces'] },
    explains: { lost: ['in-pieces', 'authentic-large'] },
  },
  'reads-incomplete-bodies': {
    summary: 'accepts a delivery whose body is not whole',
    explains: { accepted: [...lengths, 'slow-body'] },
  },
  'answers-other-methods': {
    summary: 'answers 2xx to other methods than POST',
    explains: { accepted: ['method-get', 'method-head', 'method-put', 'method-options'] },
  },
  'does-not-answer': {
    summary: 'does not answer in time',
    atLeast: 3,
    explains: { late: all },
  },
  'drops-connections': {
    summary: 'drops the connection where it must answer',
    atLeast: 3,
    explains: { closed: all },
  },
} satisfies Readonly<Record<string, Cause>>;

/** The id of a finding: of a cause, or of the one case that shows it. */
export type FindingId = keyof typeof attackCauses | CaseId;
