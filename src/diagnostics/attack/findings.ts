import type { AttackResult, CaseResult, Problem } from './attack-case.ts';

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
export type JudgedCase = AttackResult & Pick<CaseResult, 'problem' | 'fault'>;

/** A cause that several cases show. */
export interface Cause {
  readonly id: string;
  readonly summary: string;
  /** @default the advice of its worst case */
  readonly advice?: string;
  /** Whether the failed cases point to it. */
  readonly applies: (failed: FailedCases) => boolean;
  /** Whether it also explains this failure. */
  readonly explains: (id: string, problem: Problem | undefined) => boolean;
}

/** Whether the receiver failed one of these cases in this way. */
interface FailedCases {
  some(problem: Problem, ids: RegExp): boolean;
  /** How many. */
  count(problem: Problem, ids: RegExp): number;
  passed(id: string): boolean;
}

/** The fewest causes that explain all results that are weak or broken, the worst first. */
export function findCauses(results: readonly JudgedCase[]): readonly AttackFinding[] {
  let left = results.filter(isFailed);
  const all = left;
  const matching = (problem: Problem, ids: RegExp) =>
    all.filter((each) => each.problem === problem && ids.test(each.id));
  const failed: FailedCases = {
    some: (problem, ids) => matching(problem, ids).length > 0,
    count: (problem, ids) => matching(problem, ids).length,
    passed: (id) => results.some((each) => each.id === id && each.verdict === 'ok'),
  };
  const findings: AttackFinding[] = [];
  for (const { id, summary, advice, applies, explains } of causes) {
    if (!applies(failed)) continue;
    const explained = left.filter((each) => explains(each.id, each.problem));
    if (explained.length === 0) continue;
    left = left.filter((each) => !explained.includes(each));
    findings.push(finding(id, summary, explained, advice));
  }
  for (const each of left) findings.push(finding(each.id, summaryOf(each), [each]));
  return findings.toSorted((one, other) => rank(one) - rank(other));
}

type FailedCase = JudgedCase & { readonly verdict: 'weak' | 'broken' };

function isFailed(each: JudgedCase): each is FailedCase {
  return each.verdict === 'weak' || each.verdict === 'broken';
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
    cases: cases.map((each) => each.id),
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

const rewritten = /^altered-(?:white-space|duplicate|null|zero|rounded)/;
const rewrittenLost = /^authentic-(?:white-space|escapes|numbers|integer-name)$/;
const withoutSignature =
  /^(?:unsigned|signature-(?:empty|nested|inherited|wrong-type)|empty-object|prototype-names)/;
const notCovered =
  /^altered-(?:amount|address|status|event-name|member-name|nested|added-member|removed-member)$/;
const otherSpelling = /^signature-(?:respelled|trailing|in-array)$/;
const undecodable = /^signature-(?:not-a-digest|not-ascii)$/;
const notJson = /^(?:not-json|empty-body|wrong-type|empty-object|content-encoding|deep-nesting|length-.*)$/;
const notUnicode = /^(?:byte-order-mark|utf-16|invalid-utf-8)$/;
const repeated = /^(?:repeated|repeated-at-once|replayed)$/;
const anyCase = /./;

/** In this order: the cause that explains most comes first. */
export const causes: readonly Cause[] = [
  {
    id: 'acknowledges-forgeries',
    summary: 'answers 2xx to forged deliveries, though it acts on none of them',
    advice:
      'Answer 401 to a delivery that is not authentic: the answer is all that a sender sees, and a wrong key or scheme must show.',
    applies: ({ some, passed }) => some('accepted', /^forged$/) && passed('acted-before-verification'),
    explains: (_, problem) => problem === 'accepted',
  },
  {
    id: 'checks-presence',
    summary: 'checks only that there is a signature, not that it is right',
    applies: ({ some, passed }) => some('accepted', /^forged$/) && passed('unsigned'),
    explains: (_, problem) => problem === 'accepted',
  },
  {
    id: 'no-verification',
    summary: 'accepts forged deliveries: it does not verify signatures, or answers before it does',
    applies: ({ some }) => some('accepted', /^forged$/),
    explains: (_, problem) => problem === 'accepted',
  },
  {
    id: 'fails-on-forgeries',
    summary: 'answers 5xx where it must refuse',
    applies: ({ some }) => some('failed', /^forged$/),
    explains: (id, problem) => problem === 'failed' && !repeated.test(id),
  },
  {
    id: 'redirects-forgeries',
    summary: 'answers with a redirect where it must refuse',
    applies: ({ some }) => some('redirected', /^forged$/),
    explains: (_, problem) => problem === 'redirected',
  },
  {
    id: 'refuses-authentic',
    summary: 'refuses authentic deliveries after the first one',
    // A plain one is refused as well, later.
    applies: ({ some }) => some('lost', /^repeated$/),
    explains: (_, problem) => problem === 'lost',
  },
  {
    id: 'compares-prefix',
    summary: 'compares only the beginning of a signature (a prefix)',
    applies: ({ some }) =>
      some('accepted', /^signature-last-digit$/) && !some('accepted', /^signature-first-digit$/),
    explains: (id, problem) =>
      problem === 'accepted' &&
      (/^signature-(?:middle-digit|last-digit|short|half|long)$/.test(id) ||
        otherSpelling.test(id) ||
        id === 'tells-refusals-apart'),
  },
  {
    id: 'compares-suffix',
    summary: 'compares only the end of a signature',
    applies: ({ some }) =>
      some('accepted', /^signature-first-digit$/) && !some('accepted', /^signature-last-digit$/),
    explains: (id, problem) =>
      problem === 'accepted' && /^signature-(?:first-digit|middle-digit|long)$|^tells/.test(id),
  },
  {
    id: 'fails-open',
    summary: 'accepts a delivery whose signature it fails to verify (it fails open)',
    advice: 'Refuse where the check of a signature throws, as where it says no.',
    applies: ({ some }) =>
      some('accepted', undecodable) && !some('accepted', /^signature-(?:first|last)-digit$/),
    explains: (id, problem) =>
      problem === 'accepted' &&
      (undecodable.test(id) ||
        id === 'signature-long' ||
        withoutSignature.test(id) ||
        otherSpelling.test(id) ||
        /^signature-(?:short|half)$|^signatures-|^lone-surrogate/.test(id) ||
        id === 'acted-before-verification'),
  },
  {
    id: 'accepts-unsigned',
    summary: 'accepts deliveries without a signature',
    applies: ({ some }) => some('accepted', /^unsigned$/),
    explains: (id, problem) =>
      problem === 'accepted' && (withoutSignature.test(id) || id === 'acted-before-verification'),
  },
  {
    id: 're-serialises',
    summary: 'verifies the body as it writes it again, not the bytes that arrived',
    applies: ({ count }) => count('lost', rewrittenLost) + count('accepted', rewritten) >= 3,
    explains: (id, problem) =>
      (problem === 'lost' &&
        (rewrittenLost.test(id) ||
          /^authentic-(?:letters|quotes|large|extra-members|nested-signature)$/.test(id))) ||
      (problem === 'accepted' && (rewritten.test(id) || /^signatures-|^altered-added-member$/.test(id))),
  },
  {
    id: 'two-signatures',
    summary: 'accepts a body with two signatures',
    applies: () => true,
    explains: (id, problem) => problem === 'accepted' && /^signatures-/.test(id),
  },
  {
    id: 'signs-a-part',
    summary: 'verifies only a part of the body: the rest can be altered',
    advice: 'Verify the signature over the whole body as it arrived, without its signature member.',
    applies: ({ some }) => some('accepted', notCovered),
    explains: (id, problem) => problem === 'accepted' && /^altered-/.test(id),
  },
  {
    id: 'accepts-cut-signature',
    summary: 'compares a signature only as far as it goes: a part of the right one is enough',
    applies: ({ some }) => some('accepted', /^signature-(?:short|half)$/),
    explains: (id, problem) =>
      problem === 'accepted' &&
      /^signature-(?:empty|short|half|long|trailing)$|^acted-before-verification$/.test(id),
  },
  {
    id: 'several-spellings',
    summary: 'accepts more than one spelling of the right signature',
    applies: ({ some }) => some('accepted', otherSpelling),
    explains: (id, problem) => problem === 'accepted' && (otherSpelling.test(id) || id === 'signature-long'),
  },
  {
    id: 'lenient-decoding',
    summary: 'takes other bytes for the signed text: it does not decode as strict UTF-8',
    applies: ({ some }) => some('accepted', notUnicode),
    explains: (id, problem) => problem === 'accepted' && notUnicode.test(id),
  },
  {
    id: 'fails-without-signature',
    summary: 'answers 5xx to a delivery without a signature',
    applies: ({ some }) => some('failed', /^unsigned$/),
    explains: (id, problem) => problem === 'failed' && withoutSignature.test(id),
  },
  {
    id: 'fails-on-odd-signature',
    summary: 'answers 5xx to a signature of another length, alphabet or type',
    applies: ({ count }) => count('failed', /^signature-/) >= 2,
    explains: (id, problem) => problem === 'failed' && /^signature-/.test(id),
  },
  {
    id: 'fails-on-not-json',
    summary: 'answers 5xx to a body that is not a JSON object',
    applies: ({ some }) => some('failed', /^not-json$/),
    explains: (id, problem) => problem === 'failed' && (notUnicode.test(id) || notJson.test(id)),
  },
  {
    id: 'fails-on-other-encodings',
    summary: 'answers 5xx to a body that is not UTF-8',
    applies: ({ some }) => some('failed', notUnicode),
    explains: (id, problem) => problem === 'failed' && notUnicode.test(id),
  },
  {
    id: 'refuses-unfamiliar',
    summary: 'refuses authentic events that it does not know',
    applies: ({ some }) => some('lost', /^authentic-(?:extra-members|unfamiliar|unknown-order)$/),
    explains: (id, problem) =>
      problem === 'lost' && /^authentic-(?:extra-members|unfamiliar|unknown-order)$/.test(id),
  },
  {
    id: 'refuses-repetitions',
    summary: 'does not acknowledge a repetition',
    applies: () => true,
    explains: (id, problem) => repeated.test(id) && problem !== 'closed' && problem !== 'late',
  },
  {
    id: 'remembers-forgeries',
    summary: 'remembers a delivery before it verifies it: a forgery makes the genuine event a repetition',
    applies: () => true,
    explains: (id, problem) =>
      /^(?:forged-first|handled-after-forgeries)$/.test(id) &&
      (problem === undefined || problem === 'accepted' || problem === 'lost'),
  },
  {
    id: 'reads-one-piece',
    summary: 'reads only the first piece of a body',
    applies: ({ some }) => some('lost', /^in-pieces$/),
    explains: (id, problem) => problem === 'lost' && /^(?:in-pieces|authentic-large)$/.test(id),
  },
  {
    id: 'reads-incomplete-bodies',
    summary: 'accepts a delivery whose body is not whole',
    applies: ({ some }) => some('accepted', /^(?:length-too|slow-body)/),
    explains: (id, problem) => problem === 'accepted' && /^(?:length-too|slow-body)/.test(id),
  },
  {
    id: 'answers-other-methods',
    summary: 'answers 2xx to other methods than POST',
    applies: ({ some }) => some('accepted', /^method-/),
    explains: (id, problem) => problem === 'accepted' && /^method-/.test(id),
  },
  {
    id: 'does-not-answer',
    summary: 'does not answer in time',
    applies: ({ count }) => count('late', anyCase) >= 3,
    explains: (_, problem) => problem === 'late',
  },
  {
    id: 'drops-connections',
    summary: 'drops the connection where it must answer',
    applies: ({ count }) => count('closed', anyCase) >= 3,
    explains: (_, problem) => problem === 'closed',
  },
];
