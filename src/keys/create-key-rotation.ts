import type { CallOptions } from '../client/call-options.ts';
import type { PartnerIdentity } from '../client/exchange-client.ts';
import type { Reply } from '../client/reply.ts';
import { defineCredentials, plainCredentials } from '../credentials/define-credentials.ts';
import type { KeySets } from '../credentials/key-ring.ts';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import { ConfigurationError, outcomeOf } from '../errors/errors.ts';
import {
  callback,
  checkFunction,
  defineOptions,
  flag,
  integer,
  type OptionTable,
  unchecked,
} from '../internal/options.ts';
import { keyMatches } from './key-matches.ts';
import {
  type KeyRequest,
  type KeyStorage,
  type RetiredGeneration,
  type RotationState,
  readState,
  writeState,
} from './rotation-state.ts';
import {
  checkMayRequest,
  noKeys,
  type RotationStatus,
  statusOf,
  unconfirmedOf,
  withPromoted,
  withReceived,
} from './rotation-steps.ts';

/** Options of {@link createKeyRotation}. */
export interface KeyRotationOptions {
  /** Asks for new keys: an `ExchangeClient`. Not needed where nothing calls `request`. */
  exchange?: { regenerateKeys(partner: PartnerIdentity, options?: CallOptions): Promise<Reply> } | undefined;
  /** Keeps the keys: {@link storedKeys}. */
  storage: KeyStorage;
  /**
   * Milliseconds that replaced keys still verify after they were replaced, or after a delivery last matched them: the
   * service may repeat an event that it signed before. It may be a little longer. Received keys that no delivery has
   * matched count as possibly mistyped for as long. @default 86400000 (a day)
   */
  overlapMs?: number | undefined;
  /** Milliseconds since 1970. @default Date.now */
  now?: (() => number) | undefined;
}

/** Options of `request` of a key rotation. */
export interface KeyRequestOptions extends CallOptions {
  /**
   * Asks again after an earlier request: its link never came, or its outcome is unknown. An earlier link may stop
   * working. @default false
   */
  again?: boolean | undefined;
}

const readOptions = defineOptions('createKeyRotation', {
  exchange: (value) => {
    // Sound as far as it can be: of a function only its being one can be checked.
    const exchange = value as KeyRotationOptions['exchange'];
    if (exchange !== undefined) checkFunction('exchange.regenerateKeys', exchange.regenerateKeys);
    return exchange;
  },
  storage: (value) => {
    // Sound as far as it can be, as above.
    const storage = value as KeyStorage;
    checkFunction('storage.read', storage?.read);
    checkFunction('storage.update', storage.update);
    return storage;
  },
  overlapMs: integer({ default: 86_400_000, least: 0 }),
  now: callback({ default: Date.now }),
} satisfies OptionTable<KeyRotationOptions>);

const readRequestOptions = defineOptions('request', {
  again: flag({ default: false }),
  // The client checks them: its rows belong to another entry.
  signal: unchecked(),
  timeoutMs: unchecked(),
  leftMs: unchecked(),
  schema: unchecked(),
} satisfies OptionTable<KeyRequestOptions>);

/** Replaces a partner's keys: see {@link createKeyRotation}. Its functions need no `this`. */
export interface KeyRotation {
  /**
   * Asks the service for new keys; it e-mails a link to them, which works once (contract: Endpoints 3). The request is
   * stored before it is sent, and its acceptance afterwards.
   *
   * @throws {KeyError} `rotation_pending` if keys were asked for, or received and not promoted; `rotation_unknown` if it
   *   is not known whether they were asked for. Nothing is sent. Then look for the e-mail, and go on with `receive`, or
   *   ask once more with `again: true`. `keys_unavailable` before the first keys are received
   * @throws {RequestError} With the outcome `unknown` the rotation's step is `unknown` too; with any other, nothing is
   *   pending
   */
  readonly request: (partner: PartnerIdentity, options?: KeyRequestOptions) => Promise<Reply>;
  /**
   * Stores new keys. Call it first of all, since the link shows them once. They verify from now on, and sign once they
   * are promoted; the very first keys sign at once. Members that the new keys leave out (merchant secrets, partner ID
   * and code) stay as they were. Known keys may be received again: the newest receipt counts. To correct mistyped keys,
   * receive the right ones, also after `promote`. To take back keys that are not promoted yet, receive the current ones.
   *
   * Until a delivery has matched keys that were received after others, for `overlapMs` at most, a delivery that matches
   * none is answered 503 (`keys_unconfirmed`), and not 401 as a forgery. All keys of one rotation are one partner, whose
   * digests go on under its first name, or under none. So store the name with the first keys.
   *
   * @throws {ConfigurationError} `invalid_credentials` for malformed keys; nothing is stored
   * @throws {KeyError} `keys_known` for the current keys while new ones are awaited, `keys_of_another_partner` for a
   *   different name
   */
  readonly receive: (keys: PartnerCredentials) => Promise<void>;
  /**
   * Makes the received keys the ones that sign; those before them only verify. Does nothing if that has happened.
   *
   * @throws {KeyError} `keys_not_received` while they are awaited; `keys_unavailable` if there were never any
   */
  readonly promote: () => Promise<void>;
  /** The keys that sign and verify now, for the `load` of a key ring. @throws {KeyError} `keys_unavailable` */
  readonly credentials: () => Promise<KeySets>;
  /** The step of the rotation and the age of its keys, without a key. */
  readonly status: () => Promise<RotationStatus>;
}

/**
 * Replaces a partner's keys without losing the new ones, an event or an order. Each step can be repeated after a crash.
 *
 * Whether the old keys die when new ones are asked for, or when the link to them is opened, is not known (ledger:
 * `old-keys-die`). So received keys verify at once, replaced keys verify for `overlapMs` more, and a client whose
 * `credentials` are a ring repeats a refused call with the received keys.
 *
 * @throws {ConfigurationError} `invalid_option`
 * @example
 * ```ts
 * const ring = createKeyRing({ load: () => rotation.credentials() });
 * const exchange = new ExchangeClient({ deployment, credentials: ring });
 * const storage = storedKeys({ store: sqliteStore({ path: 'keys.sqlite' }) });
 * const rotation: KeyRotation = createKeyRotation({ exchange, storage });
 *
 * await rotation.request({ email: 'dev@acme.example', partner_code: 'acme' });
 * await rotation.receive(keysFromTheLink);
 * await ring.reload();
 * await rotation.promote();
 * await ring.reload();
 * ```
 */
export function createKeyRotation(options: KeyRotationOptions): KeyRotation {
  const { exchange, storage, overlapMs, now } = readOptions(options);
  // A match is stored at most this often, and replaced keys verify that much longer.
  const recordEveryMs = Math.max(1, Math.min(3_600_000, Math.ceil(overlapMs / 4)));

  const change = (next: (state: RotationState) => RotationState | undefined): Promise<void> =>
    storage.update((text) => {
      const state = next(readState(text));
      return state === undefined ? undefined : writeState(state);
    });
  const verifiesUntil = ({ retiredAt, matchedAt = retiredAt }: RetiredGeneration) =>
    Math.max(retiredAt, matchedAt) + overlapMs + recordEveryMs;
  const isExpired = (generation: RetiredGeneration) => verifiesUntil(generation) < now();

  const matches = keyMatches({ change, now, recordEveryMs });

  return {
    async request(partner, requestOptions = {}) {
      const { again, ...callOptions } = readRequestOptions(requestOptions);
      if (exchange === undefined) {
        throw new ConfigurationError('not_configured', 'request needs the exchange of createKeyRotation.', {
          remedy: 'Give createKeyRotation the ExchangeClient that asks for keys.',
        });
      }
      const request: KeyRequest = { id: crypto.randomUUID(), at: now(), answered: false };
      let previous: KeyRequest | undefined;
      await change((state) => {
        checkMayRequest(state, again);
        previous = state.request;
        return { ...state, request };
      });
      const changeRequest = (next: (stored: KeyRequest) => KeyRequest | undefined) =>
        change((state) =>
          state.request?.id === request.id ? { ...state, request: next(state.request) } : undefined,
        );
      let reply: Reply;
      try {
        reply = await exchange.regenerateKeys(partner, callOptions);
      } catch (error) {
        // If this cannot be stored either, the request stays unknown, which is safe.
        if (outcomeOf(error) !== 'unknown') await changeRequest(() => previous).catch(() => {});
        throw error;
      }
      await changeRequest((stored) => ({ ...stored, answered: true }));
      return reply;
    },

    async receive(keys) {
      const given = plainCredentials(defineCredentials(keys));
      const rotation = crypto.randomUUID();
      await change((state) => withReceived(state, { given, at: now(), rotation }));
    },

    promote: () => change((state) => withPromoted(state, { at: now(), isExpired })),

    async credentials() {
      const state = readState(await storage.read());
      const { origin, current, pending, request, retired } = state;
      if (current === undefined) throw noKeys();
      const replaced = retired.filter((generation) => !isExpired(generation));
      const newest = unconfirmedOf(state);
      const isInDoubt = () =>
        newest !== undefined && !matches.isConfirmed(newest.number) && now() < newest.receivedAt + overlapMs;
      const generations = [current, pending, ...replaced].filter((generation) => generation !== undefined);
      return {
        signing: current.credentials,
        pending: pending?.credentials,
        verifying: generations.map(({ credentials }) => credentials),
        origin,
        awaited: request !== undefined && pending === undefined,
        unconfirmed: isInDoubt,
        matched: (index) => {
          if (newest !== undefined && generations[index] === newest && !matches.isConfirmed(newest.number)) {
            return matches.confirm(newest.number);
          }
          const stillVerifying = replaced.find((generation) => generation === generations[index]);
          return stillVerifying && matches.record(stillVerifying);
        },
      };
    },

    status: async () => statusOf(readState(await storage.read()), verifiesUntil),
  };
}
