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

/** Failures of one kind. */
interface FailureRule {
  readonly problem: Problem;
  /** The ids of its cases. @default any */
  readonly cases?: readonly string[];
}

type OutcomeRule = RegExp | FailureRule;

/** A cause that several cases show. Its patterns match outcomes, such as `accepted forged` and `ok unsigned`. */
export interface Cause {
  readonly id: string;
  readonly summary: string;
  /** @default the advice of its worst case */
  readonly advice?: string;
  /** The outcomes that it explains. */
  readonly explains: OutcomeRule | readonly OutcomeRule[];
  /** The failures that point to it. @default those that it explains */
  readonly shownBy?: Cause['explains'];
  /** How many of them are needed. @default 1 */
  readonly atLeast?: number;
  /** Outcomes that must be there too. */
  readonly given?: RegExp;
  /** Outcomes that point to another cause. */
  readonly unless?: RegExp;
}

/** The fewest causes that explain all results that are weak or broken, the worst first. */
export function findCauses(results: readonly JudgedCase[]): readonly AttackFinding[] {
  const findings: AttackFinding[] = [];
  let left = results.filter(isFailed);
  for (const cause of attackCauses) {
    if (!applies(cause, results)) continue;
    const explained = left.filter((each) => matches(cause.explains, each));
    if (explained.length === 0) continue;
    left = left.filter((each) => !explained.includes(each));
    findings.push(finding(cause.id, cause.summary, explained, cause.advice));
  }
  for (const each of left) findings.push(finding(each.id, summaryOf(each), [each]));
  return findings.toSorted((one, other) => rank(one) - rank(other));
}

type FailedCase = JudgedCase & { readonly verdict: 'weak' | 'broken' };

function isFailed(each: JudgedCase): each is FailedCase {
  return each.verdict === 'weak' || each.verdict === 'broken';
}

/** How a case failed, or `ok` or `skipped`, and its id. */
function outcomeOf(each: JudgedCase): string {
  return `${isFailed(each) ? (each.problem ?? 'other') : each.verdict} ${each.id}`;
}

function applies(
  { explains, shownBy = explains, atLeast = 1, given, unless }: Cause,
  results: readonly JudgedCase[],
): boolean {
  const count = (rule: Cause['explains']) => results.filter((each) => matches(rule, each)).length;
  if (given !== undefined && count(given) === 0) return false;
  if (unless !== undefined && count(unless) > 0) return false;
  return count(shownBy) >= atLeast;
}

function matches(rule: Cause['explains'], each: JudgedCase): boolean {
  const rules: readonly OutcomeRule[] = [rule].flat();
  return rules.some((one) => {
    if (one instanceof RegExp) return one.test(outcomeOf(each));
    const { problem, cases = [each.id] } = one;
    return isFailed(each) && each.problem === problem && cases.includes(each.id);
  });
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

/** In this order: the cause that explains most comes first. */
export const attackCauses: readonly Cause[] = [
  {
    id: 'acknowledges-forgeries',
    summary: 'answers 2xx to forged deliveries, though it acts on none of them',
    advice:
      'Answer 401 to a delivery that is not authentic: the answer is all that a sender sees, and a wrong key or scheme must show.',
    shownBy: /^accepted forged$/,
    given: /^ok acted-before-verification$/,
    explains: /^accepted /,
  },
  {
    id: 'checks-presence',
    summary: 'checks only that there is a signature, not that it is right',
    shownBy: /^accepted forged$/,
    given: /^ok unsigned$/,
    explains: /^accepted /,
  },
  {
    id: 'no-verification',
    summary: 'accepts forged deliveries: it does not verify signatures, or answers before it does',
    shownBy: /^accepted forged$/,
    explains: /^accepted /,
  },
  {
    id: 'fails-on-forgeries',
    summary: 'answers 5xx where it must refuse',
    shownBy: /^failed forged$/,
    explains: /^failed (?!repeated|replayed)/,
  },
  {
    id: 'redirects-forgeries',
    summary: 'answers with a redirect where it must refuse',
    shownBy: /^redirected forged$/,
    explains: /^redirected /,
  },
  {
    id: 'refuses-authentic',
    summary: 'refuses authentic deliveries after the first one',
    // A plain one is refused as well, later.
    shownBy: /^lost repeated$/,
    explains: /^lost /,
  },
  {
    id: 'compares-prefix',
    summary: 'compares only the beginning of a signature (a prefix)',
    shownBy: /^accepted signature-last-digit$/,
    unless: /^accepted signature-first-digit$/,
    explains:
      /^accepted (?:signature-(?:middle-digit|last-digit|short|half|long|respelled|trailing|in-array)|tells-refusals-apart)$/,
  },
  {
    id: 'compares-suffix',
    summary: 'compares only the end of a signature',
    shownBy: /^accepted signature-first-digit$/,
    unless: /^accepted signature-last-digit$/,
    explains: /^accepted (?:signature-(?:first-digit|middle-digit|long)|tells-refusals-apart)$/,
  },
  {
    id: 'fails-open',
    summary: 'accepts a delivery whose signature it fails to verify (it fails open)',
    advice: 'Refuse where the check of a signature throws, as where it says no.',
    shownBy: /^accepted signature-not-(?:a-digest|ascii)$/,
    unless: /^accepted signature-(?:first|last)-digit$/,
    explains:
      /^accepted (?:signature-(?!\w+-digit|of-another|escaped)|signatures-|unsigned|empty-object|prototype-names|lone-surrogate|acted-before-verification)/,
  },
  {
    id: 'accepts-unsigned',
    summary: 'accepts deliveries without a signature',
    shownBy: /^accepted unsigned$/,
    explains:
      /^accepted (?:unsigned|signature-(?:empty|nested|inherited|wrong-type)|empty-object|prototype-names|acted-before-verification)/,
  },
  {
    id: 're-serialises',
    summary: 'verifies the body as it writes it again, not the bytes that arrived',
    shownBy:
      /^lost authentic-(?:white-space|escapes|numbers|integer-name)$|^accepted altered-(?:white-space|duplicate|null|zero|rounded)/,
    atLeast: 3,
    explains: [
      /^lost authentic-(?:white-space|escapes|numbers|integer-name|letters|quotes|large|extra-members|nested-signature)$|^accepted (?:altered-(?:white-space|duplicate|null|zero|rounded|added-member)|signatures-)/,
      // A member is lost on the way, or one that is missing is written.
      { problem: 'lost', cases: ['authentic-other-shape'] },
    ],
  },
  {
    id: 'two-signatures',
    summary: 'accepts a body with two signatures',
    explains: /^accepted signatures-/,
  },
  {
    id: 'signs-a-part',
    summary: 'verifies only a part of the body: the rest can be altered',
    advice: 'Verify the signature over the whole body as it arrived, without its signature member.',
    shownBy:
      /^accepted altered-(?:amount|address|status|event-name|member-name|nested|added-member|removed-member)$/,
    explains: /^accepted altered-/,
  },
  {
    id: 'accepts-cut-signature',
    summary: 'compares a signature only as far as it goes: a part of the right one is enough',
    shownBy: /^accepted signature-(?:short|half)$/,
    explains: /^accepted (?:signature-(?:empty|short|half|long|trailing)|acted-before-verification)$/,
  },
  {
    id: 'several-spellings',
    summary: 'accepts more than one spelling of the right signature',
    shownBy: /^accepted signature-(?:respelled|trailing|in-array)$/,
    explains: /^accepted signature-(?:respelled|trailing|in-array|long)$/,
  },
  {
    id: 'lenient-decoding',
    summary: 'takes other bytes for the signed text: it does not decode as strict UTF-8',
    explains: /^accepted (?:byte-order-mark|utf-16|invalid-utf-8)$/,
  },
  {
    id: 'fails-without-signature',
    summary: 'answers 5xx to a delivery without a signature',
    shownBy: /^failed unsigned$/,
    explains:
      /^failed (?:unsigned|signature-(?:empty|nested|inherited|wrong-type)|empty-object|prototype-names)/,
  },
  {
    id: 'fails-on-odd-signature',
    summary: 'answers 5xx to a signature of another length, alphabet or type',
    atLeast: 2,
    explains: /^failed signature-/,
  },
  {
    id: 'fails-on-not-json',
    summary: 'answers 5xx to a body that is not a JSON object',
    shownBy: /^failed not-json$/,
    explains:
      /^failed (?:not-json|empty-body|wrong-type|empty-object|content-encoding|deep-nesting|length-|byte-order-mark|utf-16|invalid-utf-8)/,
  },
  {
    id: 'fails-on-other-encodings',
    summary: 'answers 5xx to a body that is not UTF-8',
    explains: /^failed (?:byte-order-mark|utf-16|invalid-utf-8)$/,
  },
  {
    id: 'refuses-unfamiliar',
    summary: 'refuses authentic events that it does not know',
    explains: {
      problem: 'lost',
      cases: [
        'authentic-extra-members',
        'authentic-unfamiliar',
        'authentic-other-shape',
        'authentic-unknown-order',
      ],
    },
  },
  {
    id: 'drops-unfamiliar',
    summary: 'drops what it does not know: it answers 2xx, and neither handles nor keeps the event',
    explains: { problem: 'dropped' },
  },
  {
    id: 'refuses-repetitions',
    summary: 'does not acknowledge a repetition',
    explains: /^(?!closed|late)\w+ (?:repeated|replayed)/,
  },
  {
    id: 'remembers-forgeries',
    summary: 'remembers a delivery before it verifies it: a forgery makes the genuine event a repetition',
    explains: /^(?:accepted|lost|other) (?:forged-first|handled-after-forgeries)$/,
  },
  {
    id: 'reads-one-piece',
    summary: 'reads only the first piece of a body',
    shownBy: /^lost in-pieces$/,
    explains: /^lost (?:in-pieces|authentic-large)$/,
  },
  {
    id: 'reads-incomplete-bodies',
    summary: 'accepts a delivery whose body is not whole',
    explains: /^accepted (?:length-too|slow-body)/,
  },
  {
    id: 'answers-other-methods',
    summary: 'answers 2xx to other methods than POST',
    explains: /^accepted method-/,
  },
  {
    id: 'does-not-answer',
    summary: 'does not answer in time',
    atLeast: 3,
    explains: /^late /,
  },
  {
    id: 'drops-connections',
    summary: 'drops the connection where it must answer',
    atLeast: 3,
    explains: /^closed /,
  },
];
