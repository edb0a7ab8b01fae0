import { allKeysOf, areSameCredentials } from '../credentials/define-credentials.ts';
import type { KeyRing, KeySets } from '../credentials/key-ring.ts';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import {
  isKeyError,
  isRequestError,
  KeyError,
  type RequestError,
  reworded,
  whatFailed,
} from '../errors/errors.ts';

/** Most keys remembered for redaction: a ring may give other keys with every load. */
const maxSecrets = 200;

export type SigningCredentials = ReturnType<typeof signingCredentials>;

export function signingCredentials(ring: KeyRing) {
  const secrets = new Set<string>();
  if (ring.loaded !== undefined) remember(ring.loaded);
  async function current(): Promise<KeySets> {
    const sets = await ring.current();
    remember(sets);
    return sets;
  }

  function remember({ signing, pending, verifying }: KeySets): void {
    const sets = pending === undefined ? [signing, ...verifying] : [signing, pending, ...verifying];
    for (const secret of sets.flatMap(allKeysOf)) {
      secrets.delete(secret);
      secrets.add(secret);
    }
    for (const oldest of [...secrets].slice(0, -maxSecrets)) secrets.delete(oldest);
  }

  /** @param used the sets of the credentials that were refused last */
  async function afterRefusal(
    refused: readonly PartnerCredentials[],
    used: KeySets,
  ): Promise<{ sets: KeySets; other: PartnerCredentials | undefined; doubt: KeyError | undefined }> {
    const doubt = await doubtAfterRefusal(ring, used);
    const sets = ring.loaded ?? used;
    remember(sets);
    const other = [sets.signing, sets.pending].find(
      (each) => each && !refused.some((one) => areSameCredentials(each, one)),
    );
    return { sets, other, doubt };
  }

  return {
    /** Every key that was seen: no error may show them. */
    secrets: (): readonly string[] => [...secrets],

    /** The keys of the ring now. @throws {KeyError} `keys_unavailable` when it has none */
    current,

    /**
     * Sends a call with the credentials that sign now, and once more with other keys if the service refuses these.
     *
     * @param send `previousFailure` is how the service refused the call with other credentials
     * @throws {KeyError} `keys_unavailable` when a key ring has none
     * @throws {RequestError} with a KeyError as `cause` if the keys that were refused may not be the newest
     */
    async call<Result>(
      send: (credentials: PartnerCredentials, previousFailure?: RequestError) => Promise<Result>,
    ): Promise<Result> {
      const used = await current();
      const first = used.signing;
      try {
        return await send(first);
      } catch (refusal) {
        if (!isKeyRefusal(refusal)) throw refusal;
        const { other, sets, doubt } = await afterRefusal([first], used);
        if (other === undefined) throw doubt === undefined ? refusal : withReason(refusal, doubt);
        return await send(other, refusal).catch(async (error: unknown) => {
          if (!isKeyRefusal(error)) throw error;
          const next = await afterRefusal([first, other], sets);
          const replaced = 'Newer keys came while the service refused a request with the ones before.';
          const reason = next.other === undefined ? next.doubt : new KeyError('keys_replaced', replaced);
          throw reason === undefined ? error : withReason(error, reason);
        });
      }
    },
  };
}

/** Why the ring may not have the newest keys. It reads them again if it may; what it knows already counts first. */
async function doubtAfterRefusal(ring: KeyRing, used: KeySets): Promise<KeyError | undefined> {
  const stale = await keyErrorOf(() => ring.newerThan(used, 'refusal'));
  const known = await keyErrorOf(async () => ring.checkSettled());
  return known?.code === 'keys_not_received' ? known : (stale ?? known);
}

async function keyErrorOf(ask: () => Promise<unknown>): Promise<KeyError | undefined> {
  try {
    await ask();
    return undefined;
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
  const doubt = reason.code === 'keys_unconfirmed' ? 'wrong' : 'old';
  const copy = reworded(refusal, { remedy: `Likely the keys are ${doubt}: ${whatFailed(reason)}` });
  return Object.defineProperty(copy, 'cause', { value: reason, configurable: true, writable: true });
}
