import type { KeyRing } from '../credentials/key-ring.ts';
import type { KeySets } from '../credentials/key-sets.ts';
import { type VerificationKeys, verificationKeysOf } from '../credentials/verification-keys.ts';
import { isConfigurationError } from '../errors/configuration-error.ts';
import { isKeyError, KeyError } from '../errors/key-error.ts';
import { isSignatureError } from '../errors/signature-error.ts';
import { warnOnce } from '../errors/warn.ts';
import type { SignatureScheme } from '../signature/signature-scheme.ts';
import type { VerifiedBody } from '../signature/verify-body.ts';
import type { BodyVerifier } from './body-verifier.ts';

/** Verifies with the keys of a ring: with newer ones when none of those at hand matches. */
export type RingVerifier = (
  body: string,
) => Promise<{ readonly verified: VerifiedBody; readonly keys: VerificationKeys }>;

export interface RingVerifierOptions {
  readonly ring: KeyRing;
  readonly scheme: SignatureScheme;
  readonly verifyBody: BodyVerifier;
}

/** The function throws {@link KeyError} while the ring has no keys, and what `verifyBody` throws. */
export function ringVerifier({ ring, scheme, verifyBody }: RingVerifierOptions): RingVerifier {
  const usableKeys = keysUnder(scheme);

  async function verify(body: string, sets: KeySets) {
    const { keys, matched } = usableKeys(sets);
    const verified = await verifyBody(body, keys);
    const index = keys.labels[verified.keyIndex]?.index;
    if (matched !== undefined && index !== undefined) {
      void (async () => matched(index))().catch(() => warnOnce(matchedFailed));
    }
    return { verified, keys };
  }

  return async (body) => {
    const sets = await ring.current();
    try {
      return await verify(body, sets);
    } catch (error) {
      if (!mayHaveOtherKey(error)) throw error;
      const newer = await ring.newerThan(sets);
      if (newer === undefined) throw error;
      return await verify(body, newer);
    }
  };
}

/** Whatever else is wrong with a body, other keys do not put it right. */
function mayHaveOtherKey(error: unknown): boolean {
  return (
    (isSignatureError(error) && error.code === 'signature_mismatch') ||
    (isKeyError(error) && error.code === 'key_search_limited')
  );
}

const matchedFailed = 'matched of the keys of a key ring failed; deliveries are not affected.';

interface UsableKeys extends Pick<KeySets, 'matched'> {
  readonly keys: VerificationKeys;
}

/**
 * The keys of sets of credentials under a scheme, made once for each load. If a load gives credentials without the
 * merchant secret that the scheme needs, those before it are kept.
 */
function keysUnder(scheme: SignatureScheme): (sets: KeySets) => UsableKeys {
  let last: { readonly sets: KeySets; readonly usable: UsableKeys } | undefined;

  function make({ verifying, matched }: KeySets): UsableKeys {
    try {
      return { keys: verificationKeysOf(verifying, scheme), matched };
    } catch (error) {
      if (!isConfigurationError(error)) throw error;
      const message = `The keys of the key ring cannot verify: ${error.message}`;
      if (last === undefined) throw new KeyError('keys_unavailable', message);
      warnOnce(`${message} The webhooks go on with the keys before.`);
      return last.usable;
    }
  }

  return (sets) => {
    if (last?.sets !== sets) last = { sets, usable: make(sets) };
    return last.usable;
  };
}
