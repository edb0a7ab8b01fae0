import { allKeysOf, areSameCredentials, defineCredentials } from '../credentials/define-credentials.ts';
import type { KeyRing, KeySets } from '../credentials/key-ring.ts';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import {
  isKeyError,
  isRequestError,
  type KeyError,
  partsOf,
  type RequestError,
  reworded,
  whatFailed,
} from '../errors/errors.ts';
import { inWords } from '../errors/remedies.ts';

/** Most keys remembered for redaction: a ring may give other keys with every load. */
const maxSecrets = 200;

export type SigningCredentials = ReturnType<typeof signingCredentials>;

export function signingCredentials(ring: KeyRing) {
  const secrets = new Set<string>();
  if (ring.loaded !== undefined) remember(ring.loaded);
  /** Pending keys that the service has accepted go first until they are promoted. */
  let accepted: PartnerCredentials | undefined;

  async function load(): Promise<{ first: PartnerCredentials; sets: KeySets }> {
    const sets = await ring.current();
    remember(sets);
    const { signing, pending } = sets;
    const isAccepted = pending && accepted && areSameCredentials(pending, accepted);
    return { first: isAccepted ? pending : signing, sets };
  }

  function remember({ signing, pending, verifying }: KeySets): void {
    const sets = pending === undefined ? [signing, ...verifying] : [signing, pending, ...verifying];
    for (const secret of sets.flatMap(allKeysOf)) {
      secrets.delete(secret);
      secrets.add(secret);
    }
    for (const oldest of [...secrets].slice(0, -maxSecrets)) secrets.delete(oldest);
  }

  /** Other credentials than those that were refused. @throws the refusal when there are none */
  async function otherThan(
    refused: PartnerCredentials,
    { sets, refusal }: { sets: KeySets; refusal: RequestError },
  ): Promise<PartnerCredentials> {
    const newer = await newerKeys(ring, sets);
    const known = newer === undefined || isKeyError(newer) ? sets : newer;
    remember(known);
    const other = [known.signing, known.pending].find((each) => each && !areSameCredentials(each, refused));
    if (other !== undefined) return other;
    throw isKeyError(newer) ? withReason(refusal, newer) : refusal;
  }

  return {
    /** Every key that was seen: no error may show them. */
    secrets: (): readonly string[] => [...secrets],

    /** The credentials that sign now, and their rotation. @throws {KeyError} `keys_unavailable` when a key ring has none */
    async current(): Promise<{ signer: PartnerCredentials; rotation: string | undefined }> {
      const { first, sets } = await load();
      return { signer: first, rotation: sets.origin?.rotation };
    },

    /**
     * Sends a call with the credentials that sign now, and once more with other keys if the service refuses these.
     *
     * @param send `previousFailure` is how the service refused the call with other credentials
     * @throws {KeyError} `keys_unavailable` when a key ring has none
     */
    async call<Result>(
      send: (credentials: PartnerCredentials, previousFailure?: RequestError) => Promise<Result>,
    ): Promise<Result> {
      const { first, sets } = await load();
      try {
        return await send(first);
      } catch (refusal) {
        if (!isKeyRefusal(refusal)) throw refusal;
        const other = await otherThan(first, { sets, refusal });
        const result = await send(other, refusal);
        accepted = other;
        return result;
      }
    },
  };
}

/** A ring that never changes. @throws {ConfigurationError} `invalid_credentials` */
export function fixedKeyRing(credentials: PartnerCredentials): KeyRing {
  const signing = defineCredentials(credentials);
  const sets = Object.freeze({ signing, verifying: Object.freeze([signing]) });
  return { loaded: sets, current: () => sets, newerThan: async () => undefined, reload: async () => {} };
}

async function newerKeys(ring: KeyRing, used: KeySets): Promise<KeySets | KeyError | undefined> {
  try {
    return await ring.newerThan(used);
  } catch (error) {
    if (isKeyError(error)) return error;
    throw error;
  }
}

/** A refusal that the keys can have caused. The service did not act, so sending it again is safe. */
function isKeyRefusal(error: unknown): error is RequestError {
  if (!isRequestError(error) || error.outcome !== 'refused') return false;
  return error.status === 401 || error.status === 403;
}

/** The refusal, and what the ring says of its keys: they may be older than those of the service. */
function withReason(refusal: RequestError, reason: KeyError): RequestError {
  const { remedy } = partsOf(refusal);
  const doubt = reason.code === 'keys_unconfirmed' ? 'wrong' : 'old';
  return reworded(refusal, {
    remedy: (say) =>
      `${inWords(remedy, say).replace(/\.$/, '')}; or the keys are ${doubt}: ${whatFailed(reason, say)}`,
  });
}
