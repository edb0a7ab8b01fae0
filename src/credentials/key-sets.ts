import { ConfigurationError } from '../errors/configuration-error.ts';
import { checkFunction } from '../options/check-values.ts';
import { defineCredentials } from './define-credentials.ts';
import type { PartnerCredentials } from './partner-credentials.ts';

/** What signs and what verifies at one moment. Made by the `load` of a key ring. */
export interface KeySets {
  /** Signs what is sent. */
  readonly signing: PartnerCredentials;
  /**
   * Keys of a rotation that do not sign yet. A call that the service refuses with 401 or 403 is repeated once with them
   * (ledger: `old-keys-die`).
   */
  readonly pending?: PartnerCredentials | undefined;
  /** All that verify, `signing` and `pending` among them. `MatchedKey.index` is the place in this list. */
  readonly verifying: readonly PartnerCredentials[];
  /** Called for each delivery that was verified, with the place in `verifying`. Nothing waits for it. */
  readonly matched?: ((index: number) => unknown) | undefined;
}

/** What the `load` of a key ring returns: one set of credentials, or several, newest first. */
export type LoadedKeys = PartnerCredentials | readonly PartnerCredentials[] | KeySets;

/** Of a list the first signs, and all verify. @throws {ConfigurationError} `invalid_credentials` */
export function keySetsOf(loaded: LoadedKeys): KeySets {
  if (isKeySets(loaded)) {
    const { signing, pending, verifying } = loaded;
    return Object.freeze({
      signing: defineCredentials(signing),
      pending: pending && defineCredentials(pending),
      verifying: checkAll(verifying),
      matched: loaded.matched && checkFunction('matched', loaded.matched),
    });
  }
  const verifying = checkAll(isList(loaded) ? loaded : [loaded]);
  const [signing] = verifying;
  if (signing === undefined) throw new ConfigurationError('invalid_credentials', 'There are no credentials.');
  return Object.freeze({ signing, verifying });
}

/** Whether two loads gave the same keys. */
export function areSameSets(one: KeySets, other: KeySets): boolean {
  return textOf(one) === textOf(other);
}

/** Whether two sets of credentials are the same in everything. */
export function areSameCredentials(one: PartnerCredentials, other: PartnerCredentials): boolean {
  return JSON.stringify(membersOf(one)) === JSON.stringify(membersOf(other));
}

/**
 * All members that have a value, in one order: also the secrets, which are not enumerable. Never show it.
 */
export function membersOf(credentials: PartnerCredentials): PartnerCredentials {
  const {
    partnerPublicKey,
    partnerSecretKey,
    merchantSecretKey,
    merchantSecretKeys,
    partnerId,
    partnerCode,
  } = credentials;
  return {
    partnerPublicKey,
    partnerSecretKey,
    ...(merchantSecretKey !== undefined && { merchantSecretKey }),
    ...(merchantSecretKeys !== undefined && { merchantSecretKeys: { ...merchantSecretKeys } }),
    ...(partnerId !== undefined && { partnerId }),
    ...(partnerCode !== undefined && { partnerCode }),
  };
}

/** The keys among the members: what no error or log may show. */
export function secretsOf(credentials: PartnerCredentials): string[] {
  const { partnerPublicKey, partnerSecretKey, merchantSecretKey, merchantSecretKeys } = credentials;
  const named = Object.values(merchantSecretKeys ?? {});
  return [
    partnerPublicKey,
    partnerSecretKey,
    ...(merchantSecretKey === undefined ? [] : [merchantSecretKey]),
    ...named,
  ];
}

function textOf({ signing, pending, verifying }: KeySets): string {
  return JSON.stringify([membersOf(signing), pending ? membersOf(pending) : null, verifying.map(membersOf)]);
}

function checkAll(list: readonly PartnerCredentials[]): readonly PartnerCredentials[] {
  return Object.freeze(list.map((credentials) => defineCredentials(credentials)));
}

function isKeySets(loaded: LoadedKeys): loaded is KeySets {
  return typeof loaded === 'object' && loaded !== null && 'signing' in loaded;
}

function isList(
  loaded: PartnerCredentials | readonly PartnerCredentials[],
): loaded is readonly PartnerCredentials[] {
  return Array.isArray(loaded);
}
