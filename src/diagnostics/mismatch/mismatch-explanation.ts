import type { KeyRing } from '../../credentials/key-ring.ts';
import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import type { SigningPurpose } from '../../credentials/signing-key.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';
import type { DetectionSecrets, NearMissCode, SampleStatus } from '../detection/detection.ts';
import type { Deviation } from './find-deviations.ts';

export interface ExplainOptions {
  /**
   * The keys that failed verification first, then others that may have signed: generations, partners. Of a key ring
   * those that it has read: `await ring.reload()` first.
   */
  credentials?: PartnerCredentials | readonly PartnerCredentials[] | KeyRing | undefined;
  /** The same as plain texts, which may be padded, swapped or incomplete. Instead of `credentials`. */
  secrets?: DetectionSecrets | undefined;
  /** The scheme that failed verification. @default {@link defaultScheme} */
  scheme?: SignatureScheme | undefined;
  /** Which key was used: the one for orders, or the partner secret. @default 'order' */
  purpose?: SigningPurpose | undefined;
  /** Which of `merchantSecretKeys` was used. @default the first */
  merchant?: string | undefined;
}

/**
 * Why a signature does not match, for a developer's terminal. Plain data without any secret, signature or value of the
 * body. It does not say whether a body can be trusted: only `verifyBody` does.
 */
export interface MismatchExplanation {
  /** What is wrong, the most telling first; never empty. */
  readonly findings: readonly MismatchFinding[];
  /** Where the body's text differs from what `JSON.stringify(JSON.parse(text))` writes. */
  readonly deviations: readonly Deviation[];
  readonly nextStep: string;
}

export interface MismatchFinding {
  readonly code: MismatchFindingCode;
  readonly message: string;
}

/**
 * The state of a body that cannot be examined (`no-signature`, `not-json`, …), a near miss (`secret-padded`,
 * `other-spelling`, …), or:
 *
 * - `no-secret`: there is no secret to try.
 * - `no-mismatch`: the signature matches with this key and scheme.
 * - `other-key`: another one of the given keys.
 * - `other-construction`, `other-separator`, `other-serialization`, `other-joiner`, `other-encoding`: another scheme.
 * - `key-order`: the parts of the key in the other order.
 * - `other-key-material`, `other-key-separator`: another key for orders.
 * - `body-reserialized`: a framework seems to have written the body again.
 * - `nothing-fits`: no known scheme with any of the keys: another secret, or a changed body.
 */
export type MismatchFindingCode =
  | Exclude<SampleStatus, 'usable' | 'not-examined'>
  | NearMissCode
  | 'no-secret'
  | 'no-mismatch'
  | 'other-key'
  | 'other-construction'
  | 'other-separator'
  | 'other-serialization'
  | 'other-joiner'
  | 'other-encoding'
  | 'key-order'
  | 'other-key-material'
  | 'other-key-separator'
  | 'body-reserialized'
  | 'nothing-fits';
