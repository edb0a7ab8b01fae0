/**
 * - `ok`: as it should be.
 * - `warn`: it works, but something should be looked at.
 * - `fail`: something will not work, or is not safe.
 * - `skip`: nothing is known; `found` says why.
 */
export type DoctorStatus = 'ok' | 'warn' | 'fail' | 'skip';

/** One check of {@link runDoctor}. */
export interface DoctorCheck {
  /** Stays the same between versions: `runtime`, `onboarding-tls`. */
  readonly id: string;
  readonly status: DoctorStatus;
  /** What was found. Holds no secret. */
  readonly found: string;
  /** What to do about it. */
  readonly fix?: string | undefined;
  /** Ids of the assumptions (see the ledger) that this depends on. */
  readonly assumptions: readonly string[];
}
