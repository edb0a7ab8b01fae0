import type { KeySets } from '../credentials/key-ring.ts';
import type { VerificationKey } from '../credentials/verification-keys.ts';
import type { SignatureError } from '../errors/errors.ts';
import { invalidOption } from '../internal/options.ts';

/** The keys to try on one delivery. */
export interface CandidateKeys {
  readonly keys: readonly VerificationKey[];
  readonly sets?: KeySets;
  /** The ring has others, which cannot be used. */
  readonly areStale?: boolean;
  /** Called with the index of the credentials that verified a body. */
  readonly matched?: KeySets['matched'];
  /** Keys that sign nothing. They are tried before a refusal, so that its time does not tell whose delivery it was. */
  readonly decoys?: readonly string[];
  /** Why there are no keys. */
  readonly refusal?: SignatureError;
}

/** All keys are tried on every delivery. */
export const maxKeys = 64;

/** @throws {ConfigurationError} `invalid_option` */
export function checkCount(count: number): void {
  if (count <= maxKeys) return;
  throw invalidOption(
    `createWebhooks tries every key on every delivery, at most ${maxKeys}, and there are ${count} (one for each merchant of each set). ` +
      'Give credentials as a function, ({ url, headers, claimed }) => credentials, that returns the sets of one partner.',
  );
}
