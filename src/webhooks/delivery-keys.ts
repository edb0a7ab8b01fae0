import { isKeyRing, type KeyRing, type KeySets } from '../credentials/key-ring.ts';
import { invalid, type PartnerCredentials } from '../credentials/partner-credentials.ts';
import { type VerificationKey, verificationKeysOf } from '../credentials/verification-keys.ts';
import { fromWireNames, type WireNames } from '../deployment/wire-names.ts';
import { isConfigurationError, isKeyError, KeyError, whatFailed } from '../errors/errors.ts';
import { withDeadline } from '../internal/deadline.ts';
import { redactError } from '../internal/driver-error.ts';
import { hash } from '../internal/hash.ts';
import type { JsonObject } from '../internal/json.ts';
import { callHook, warnOnce } from '../internal/warn.ts';
import type { SignatureScheme } from '../signature/signature-scheme.ts';
import { signatureMismatch, signedText, type UnverifiedBody } from '../signature/verify-body.ts';
import { type DeliveryRequest, plainHeaders } from './webhook-endpoint.ts';

/** A delivery before its signature is checked. Anybody can write anything into it. */
export interface UnverifiedDelivery {
  /**
   * Where it was posted, as the server has it: the whole URL from `webhooks.fetch`, path and query from
   * `webhooks.node` and `lambdaHandler`. Absent if it is not known.
   */
  readonly url?: string | undefined;
  /** Headers by lower-case name. Absent if they are not known. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The parsed body under the published names: a copy, so changing it changes nothing for the handler. */
  readonly claimed: JsonObject;
}

/**
 * Returns the credentials that may have signed a delivery, each with its `partnerId` or `partnerCode`; `undefined` or an
 * empty list if there are none. All are tried; the signal is aborted after 5 seconds.
 */
export type FindCredentials = (
  delivery: UnverifiedDelivery,
  options: { readonly signal: AbortSignal },
) => FoundCredentials | Promise<FoundCredentials>;

/** @inline */
type FoundCredentials = PartnerCredentials | readonly PartnerCredentials[] | null | undefined;

/** @throws {ConfigurationError} */
export function signerFinder(
  credentials: PartnerCredentials | readonly PartnerCredentials[] | KeyRing | FindCredentials,
  scheme: SignatureScheme,
  wireNames: WireNames,
): {
  /** Finds the key that signed a body. Throws a SignatureError if none did, and a KeyError if that is not known. */
  findSigner(body: UnverifiedBody, request: DeliveryRequest): VerificationKey | Promise<VerificationKey>;
  readonly ring?: VerifyingRing;
} {
  if (isKeyRing(credentials)) {
    const ring = verifyingRing(credentials, scheme);
    return { findSigner: ring.findSigner, ring };
  }
  const requireSigner = (body: UnverifiedBody, keys: readonly VerificationKey[]) => {
    const signer = signerOf(body, keys, scheme);
    if (signer === undefined) throw signatureMismatch();
    return signer;
  };
  if (typeof credentials === 'function') {
    const findKeys = keyFinder(credentials, scheme, wireNames);
    return { findSigner: async (body, request) => requireSigner(body, await findKeys(body, request)) };
  }
  const keys = verificationKeysOf(credentials, scheme);
  return { findSigner: (body) => requireSigner(body, keys) };
}

/** Tries every key: the time must not tell whose key it was. */
function signerOf(
  body: UnverifiedBody,
  keys: readonly VerificationKey[],
  scheme: SignatureScheme,
): VerificationKey | undefined {
  return keys.filter(({ text }) => signedText(text, body, scheme) !== undefined)[0];
}

const timeoutMs = 5_000;
const tooLate = () => new Error(`it did not settle within ${timeoutMs} ms`);

/** Finds keys by a function of the user. Rejects with a KeyError if it fails, or returns what cannot be used. */
function keyFinder(find: FindCredentials, scheme: SignatureScheme, wireNames: WireNames) {
  return async (
    { json, value }: UnverifiedBody,
    { url, headers }: DeliveryRequest,
  ): Promise<readonly VerificationKey[]> => {
    // The function may keep it and change it. Sound: the text is that of an object, without its signature.
    const copy = { ...(JSON.parse(json) as JsonObject), signature: value.signature ?? null };
    const claimed = fromWireNames(copy, wireNames);
    const delivery = { url, headers: headers && plainHeaders(headers), claimed };
    try {
      const found = await withDeadline({ ms: timeoutMs, tooLate }, async (signal) =>
        find(delivery, { signal }),
      );
      const sets = [found ?? []].flat();
      const keys = sets.length === 0 ? [] : verificationKeysOf(sets, scheme);
      // Otherwise a delivery of one partner could count as a repetition of another's.
      if (keys.some(({ matched }) => matched.partnerId === undefined && matched.partnerCode === undefined))
        throw invalid('They are without partnerId or partnerCode.');
      return keys;
    } catch (error) {
      const cause = redactError(error, []);
      const what = `The credentials function of createWebhooks returned no usable credentials: ${cause?.message ?? 'the cause is unknown'}`;
      const remedy = 'Correct it: deliveries are answered 503 until it returns credentials.';
      throw new KeyError('keys_unavailable', what, { remedy, cause });
    }
  };
}

/** The keys of one load of a ring. */
export type RingKeys = ReturnType<typeof ringKeysOf>;

/** A key ring whose keys verify deliveries. */
export type VerifyingRing = ReturnType<typeof verifyingRing>;

function verifyingRing(ring: KeyRing, scheme: SignatureScheme) {
  let last: RingKeys | undefined;

  /** Reads each load once. If its keys cannot be used, the previous ones are kept. */
  function keysOf(sets: KeySets): RingKeys {
    if (last?.sets === sets) return last;
    try {
      last = ringKeysOf(sets, scheme);
    } catch (error) {
      if (!isConfigurationError(error)) throw error;
      const what = `The keys of the key ring cannot verify: ${whatFailed(error)}`;
      const remedy = 'Correct what the key ring loads.';
      if (last === undefined) throw new KeyError('keys_unavailable', what, { remedy });
      warnOnce(`${what} The webhooks go on with the keys before.`);
      last = { ...last, sets, areStale: true };
    }
    return last;
  }

  async function newerThan({ sets }: RingKeys): Promise<RingKeys | undefined> {
    const newer = await ring.newerThan(sets);
    return newer && keysOf(newer);
  }

  return {
    /** The keys that verified last; `undefined` before the first time. */
    get last(): RingKeys | undefined {
      return last;
    },

    async findSigner(body: UnverifiedBody): Promise<VerificationKey> {
      const keys = keysOf(await ring.current());
      // `newerThan` rejects while newer keys are possible: the delivery is not known to be forged.
      const signer = keys.match(body) ?? (await newerThan(keys))?.match(body);
      if (signer !== undefined) return signer;
      ring.checkSettled();
      throw signatureMismatch();
    },

    /**
     * The keys, read again if they may have changed. They are settled if no newer ones can come: then a body that arrived
     * before and matches none of them is forged. @throws {KeyError} `keys_unavailable`
     */
    async refresh(): Promise<RingKeys & { readonly areSettled: boolean }> {
      const used = keysOf(await ring.current());
      try {
        const keys = (await newerThan(used)) ?? used;
        ring.checkSettled();
        return { ...keys, areSettled: !keys.areStale };
      } catch (error) {
        if (!isKeyError(error)) throw error;
        return { ...keysOf(ring.loaded ?? used.sets), areSettled: false };
      }
    },
  };
}

/** @throws {ConfigurationError} for keys that cannot verify */
function ringKeysOf(sets: KeySets, scheme: SignatureScheme) {
  const { verifying, matched, origin } = sets;
  const keys = verificationKeysOf(verifying, scheme, origin);
  const names = [...new Set(keys.map(({ partner }) => partner))].sort();
  return {
    /** What was loaded: another object once the keys are others. */
    sets,
    /** A digest of the names of the partners whose keys they are. It does not show the names. */
    partners: hash('sha256', JSON.stringify(names), 'hex').slice(0, 16),
    /** Whether the ring has newer keys, which cannot be used. */
    areStale: false,
    /** The key that signed a body. Tells the ring which one it was. */
    match(body: UnverifiedBody): VerificationKey | undefined {
      const signer = signerOf(body, keys, scheme);
      if (signer !== undefined && matched !== undefined) {
        callHook('matched of the keys of a key ring', () => matched(signer.matched.index));
      }
      return signer;
    },
  };
}
