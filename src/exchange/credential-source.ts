import { defineCredentials } from '../credentials/define-credentials.ts';
import { isKeyRing, type KeyRing } from '../credentials/key-ring.ts';
import { areSameCredentials, type KeySets, secretsOf } from '../credentials/key-sets.ts';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import { isRequestError, type RequestError } from '../errors/request-error.ts';

/** Sends a call with one set of credentials. `before` is how the service refused it with another one. */
export type SendWith<Result> = (credentials: PartnerCredentials, before?: RequestError) => Promise<Result>;

/** Where a client has its credentials from. */
export interface CredentialSource {
  /** Every key that was seen: what no error may show. */
  readonly secrets: readonly string[];
  /**
   * Sends a call with the credentials that sign now.
   * @throws {KeyError} `keys_unavailable` when a key ring has none
   */
  send<Result>(send: SendWith<Result>): Promise<Result>;
}

/** @throws {ConfigurationError} `invalid_credentials` */
export function credentialSource(given: PartnerCredentials | KeyRing): CredentialSource {
  if (isKeyRing(given)) return ringSource(given);
  const credentials = defineCredentials(given);
  return { secrets: secretsOf(credentials), send: (send) => send(credentials) };
}

/** Most keys that are remembered for redaction, should a ring give other keys with every load. */
const maxSecrets = 200;

function ringSource(ring: KeyRing): CredentialSource {
  const secrets = new Set<string>();
  /** The pending keys that the service has accepted: until they are promoted, they are tried first. */
  let accepted: PartnerCredentials | undefined;

  function remember({ signing, pending, verifying }: KeySets): void {
    const sets = pending === undefined ? [signing, ...verifying] : [signing, pending, ...verifying];
    for (const secret of sets.flatMap(secretsOf)) {
      // The newest stay.
      secrets.delete(secret);
      secrets.add(secret);
    }
    for (const oldest of [...secrets].slice(0, -maxSecrets)) secrets.delete(oldest);
  }

  async function current(): Promise<KeySets> {
    const sets = await ring.current();
    remember(sets);
    return sets;
  }

  /** Other credentials than those that were refused. */
  async function insteadOf(
    refused: PartnerCredentials,
    used: KeySets,
  ): Promise<PartnerCredentials | undefined> {
    const newer = await ring.newerThan(used);
    if (newer !== undefined) remember(newer);
    const { signing, pending } = newer ?? used;
    return [signing, pending].find((each) => each !== undefined && !areSameCredentials(each, refused));
  }

  return {
    get secrets() {
      return [...secrets];
    },
    async send(send) {
      const sets = await current();
      const { signing, pending } = sets;
      const isAccepted =
        pending !== undefined && accepted !== undefined && areSameCredentials(pending, accepted);
      const first = isAccepted ? pending : signing;
      try {
        return await send(first);
      } catch (error) {
        if (!isKeyRefusal(error)) throw error;
        const second = await insteadOf(first, sets);
        if (second === undefined) throw error;
        const result = await send(second, error);
        accepted = second;
        return result;
      }
    },
  };
}

/** The service says that it did not act, and the keys may be why: sending it again with other keys is safe. */
function isKeyRefusal(error: unknown): error is RequestError {
  if (!isRequestError(error) || error.outcome !== 'refused') return false;
  return error.status === 401 || error.status === 403;
}
