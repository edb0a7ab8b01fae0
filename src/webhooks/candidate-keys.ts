import type { KeySets } from '../credentials/key-ring.ts';
import type { VerificationKey } from '../credentials/verification-keys.ts';
import type { SignatureError } from '../errors/errors.ts';

/** The keys to try on one delivery. */
export interface CandidateKeys {
  readonly keys: readonly VerificationKey[];
  readonly sets?: KeySets;
  /** The ring has others, which cannot be used. */
  readonly areStale?: boolean;
  /** Called with the index of the credentials that verified a body. */
  readonly matched?: KeySets['matched'];
  /** Why there are no keys. */
  readonly refusal?: SignatureError;
}
