/**
 * - `ok`: answered as a sound receiver answers.
 * - `weak`: nothing forged got through and nothing authentic was lost, but something should be mended: see `advice`.
 * - `broken`: a forgery was accepted, an authentic delivery lost, or the receiver failed or hung.
 * - `skipped`: nothing is known; `answered` says why.
 */
export type AttackVerdict = 'ok' | 'weak' | 'broken' | 'skipped';

/** How the receiver did in one case of {@link attackReceiver}. */
export interface AttackResult {
  /** Stays the same between versions: `unsigned`, `altered-amount`. */
  readonly id: string;
  /** What was sent. */
  readonly what: string;
  /** What a sound receiver answers. */
  readonly expected: string;
  /** What this one answered, or why nothing was sent. Never its own text, which may hold anything. */
  readonly answered: string;
  readonly verdict: AttackVerdict;
  /** What to do; absent for `ok`. */
  readonly advice?: string | undefined;
}

/** What a case found out. */
export type Finding = Pick<AttackResult, 'answered' | 'verdict' | 'advice'>;

export function skipped(reason: string): Finding {
  return { verdict: 'skipped', answered: reason };
}

/** One finding for several requests: the gravest verdict and its advice, with everything that was answered. */
export function worstOf(findings: readonly Finding[]): Finding {
  const order: readonly AttackVerdict[] = ['broken', 'weak', 'skipped', 'ok'];
  const worst = order
    .map((verdict) => findings.find((finding) => finding.verdict === verdict))
    .find((finding) => finding !== undefined);
  const answered = [...new Set(findings.map((finding) => finding.answered))].join(', ');
  return { verdict: 'skipped', ...worst, answered };
}
