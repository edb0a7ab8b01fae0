import type { SignatureError } from '../errors/signature-error.ts';

/** A body that could not be verified, for the `onRefused` option. */
export interface RefusedBody {
  /**
   * The body as received: pass it to `explainMismatch` and `detectScheme`. It may hold personal data of a buyer, and
   * anybody may have sent it.
   */
  readonly rawBody: string | Uint8Array;
  /** Why it was refused; see its `code`. */
  readonly error: SignatureError;
}
