import type { VerificationKeys } from '../credentials/verification-keys.ts';
import { readClaimedBody, signatureMismatch } from '../signature/claimed-body.ts';
import type { VerifiedBody } from '../signature/verify-body.ts';
import { type KeyFinderOptions, keyFinder } from './key-search/key-finder.ts';

/**
 * Verifies a body with one of many keys. Only a search among many keys returns a promise.
 *
 * The function throws {@link SignatureError}, and {@link KeyError} `key_search_limited`.
 */
export type BodyVerifier = (body: string, keys: VerificationKeys) => VerifiedBody | Promise<VerifiedBody>;

export function bodyVerifier(options: KeyFinderOptions): BodyVerifier {
  const findKey = keyFinder(options);
  return (body, keys) => {
    const claimed = readClaimedBody(body, options.scheme);
    const found = findKey(claimed, keys);
    return typeof found === 'number' ? verified(found) : found.then(verified);

    function verified(keyIndex: number): VerifiedBody {
      if (keyIndex === -1) throw signatureMismatch();
      const { value, text, json } = claimed;
      return { value, text, json, keyIndex };
    }
  };
}
