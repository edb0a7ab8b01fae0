import type { SignatureError } from '../errors/signature-error.ts';

/** A body that could not be verified, for the `onRefused` option. */
export interface RefusedBody {
  /**
   * The body as received: what `explainMismatch` and `detectScheme` take. It may hold personal data of a buyer, and
   * it may come from anybody.
   */
  readonly rawBody: string | Uint8Array;
  /** Why it was refused; its `code` says what kind of refusal it was. */
  readonly error: SignatureError;
}
