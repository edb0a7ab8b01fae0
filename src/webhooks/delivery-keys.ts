import { isKeyRing, type KeyRing, type KeySets } from '../credentials/key-ring.ts';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import {
  type VerificationKey,
  verificationKeysOf,
  verificationKeysOfTexts,
} from '../credentials/verification-keys.ts';
import type { WireNames } from '../deployment/wire-names.ts';
import { isConfigurationError, isKeyError, KeyError, whatFailed } from '../errors/errors.ts';
import { hash } from '../internal/hash.ts';
import { callHook, warnOnce } from '../internal/warn.ts';
import type { SignatureScheme } from '../signature/signature-scheme.ts';
import { isSignedWith, signatureMismatch, type UnverifiedBody } from '../signature/verify-body.ts';
import type { CandidateKeys } from './candidate-keys.ts';
import { type DeliveryRequest, type FindCredentials, foundKeys } from './found-keys.ts';

export interface SignerFinderOptions {
  readonly credentials?:
    | PartnerCredentials
    | readonly PartnerCredentials[]
    | KeyRing
    | FindCredentials
    | undefined;
  /** Instead of `credentials`. */
  readonly keys?: readonly string[] | undefined;
  readonly scheme: SignatureScheme;
  readonly wireNames: WireNames;
  /** Milliseconds for a function to find credentials. @default 5000 */
  readonly timeoutMs?: number;
}

/** Rejects with a SignatureError if no key signed the body, with a KeyError if that is not known. */
export type FindSigner = (body: UnverifiedBody, request: DeliveryRequest) => Promise<VerificationKey>;

/** The keys of a ring, for bodies that are kept until there are others. */
export interface RingKeys {
  /** The keys that were read last: another object once they are other keys. */
  readonly loaded: KeySets | undefined;
  /** A digest of the names of the partners whose keys they are. */
  readonly partners: string;
  /** Reads the keys if they may have changed. @throws {KeyError} `keys_unavailable` */
  refresh(): Promise<RefreshedKeys>;
}

/** The keys of a ring after a refresh. */
export interface RefreshedKeys {
  readonly sets: KeySets | undefined;
  /** Whether a body that arrived before the refresh and matches none of them is forged. */
  readonly areSettled: boolean;
  match(body: UnverifiedBody): VerificationKey | undefined;
}

/** Keys that find out who signed a body; with those of the ring, if they come from one. @throws {ConfigurationError} */
export function signerFinder(options: SignerFinderOptions): {
  readonly findSigner: FindSigner;
  readonly ringKeys: RingKeys | undefined;
} {
  const { scheme } = options;
  const source = keySource(options);
  const { ring } = source;

  function match({ keys, matched }: CandidateKeys, body: UnverifiedBody): VerificationKey | undefined {
    // The first match does not end it: the time must not tell whose key it was.
    const [found] = keys.filter(({ text }) => isSignedWith(text, body, scheme));
    if (found !== undefined && matched !== undefined) {
      callHook('matched of the keys of a key ring', () => matched(found.matched.index));
    }
    return found;
  }

  async function findSigner(body: UnverifiedBody, request: DeliveryRequest): Promise<VerificationKey> {
    const used = await source.current(body, request);
    const found = match(used, body);
    if (found !== undefined) return found;
    // Rejects while newer keys are possible: the delivery is not known to be forged.
    const newer = await ring?.newerThan(used);
    const second = newer && match(newer, body);
    if (second !== undefined) return second;
    ring?.checkSettled();
    throw used.refusal ?? signatureMismatch();
  }

  const ringKeys = ring && {
    get loaded() {
      return ring.sets;
    },
    get partners() {
      return partnersOf(ring.loaded);
    },
    async refresh(): Promise<RefreshedKeys> {
      const used = await ring.current();
      const { keys, areSettled } = await settle(ring, used);
      return { sets: keys.sets, areSettled, match: (body) => match(keys, body) };
    },
  };
  return { findSigner, ringKeys };
}

async function settle(
  ring: RingSource,
  used: CandidateKeys,
): Promise<{ keys: CandidateKeys; areSettled: boolean }> {
  try {
    const newer = await ring.newerThan(used);
    ring.checkSettled();
    const keys = newer ?? used;
    return { keys, areSettled: keys.areStale !== true };
  } catch (error) {
    if (!isKeyError(error)) throw error;
    return { keys: ring.loaded ?? used, areSettled: false };
  }
}

/** The text does not show the names. */
function partnersOf(keys: CandidateKeys | undefined): string {
  const names = new Set(keys?.keys.map(({ partner }) => partner));
  return hash('sha256', JSON.stringify([...names].sort()), 'hex').slice(0, 16);
}

interface KeySource {
  current(body: UnverifiedBody, request: DeliveryRequest): CandidateKeys | Promise<CandidateKeys>;
  /** Absent where keys never change. */
  readonly ring?: RingSource;
}

interface RingSource {
  /** What was loaded last, whether its keys can be used or not. */
  readonly sets: KeySets | undefined;
  /** The keys of the last load. */
  readonly loaded: CandidateKeys | undefined;
  current(): Promise<CandidateKeys>;
  /** Other keys, if there are any by now. @throws {KeyError} while that is not known */
  newerThan(used: CandidateKeys): Promise<CandidateKeys | undefined>;
  /** @throws {KeyError} while the newest keys are not known to be all */
  checkSettled(): void;
}

function keySource(options: SignerFinderOptions): KeySource {
  const { credentials, keys, scheme } = options;
  if (keys !== undefined) return fixedKeys(verificationKeysOfTexts(keys));
  if (isKeyRing(credentials)) return ringKeys(credentials, scheme);
  if (typeof credentials === 'function') return { current: foundKeys(credentials, options) };
  return fixedKeys(verificationKeysOf(credentials ?? [], scheme));
}

/** Static keys are a ring that never changes. */
function fixedKeys(list: readonly VerificationKey[]): KeySource {
  return { current: () => ({ keys: list }) };
}

function ringKeys(ring: KeyRing, scheme: SignatureScheme): KeySource {
  let last: CandidateKeys | undefined;

  /** Once for each load. If its keys cannot be used, the previous ones are kept. */
  function keysOf(sets: KeySets): CandidateKeys {
    if (last?.sets === sets) return last;
    try {
      const { verifying, matched, origin } = sets;
      const keys = verificationKeysOf(verifying, scheme, origin);
      last = { keys, sets, matched };
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

  const source: RingSource = {
    get sets() {
      return ring.loaded;
    },
    get loaded() {
      return ring.loaded && keysOf(ring.loaded);
    },
    current: async () => keysOf(await ring.current()),
    async newerThan({ sets }) {
      const newer = sets && (await ring.newerThan(sets));
      return newer && keysOf(newer);
    },
    checkSettled: () => ring.checkSettled?.(),
  };
  return { current: source.current, ring: source };
}
