import { defineCredentials } from '../credentials/define-credentials.ts';
import { type KeySets, membersOf } from '../credentials/key-sets.ts';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import { ConfigurationError } from '../errors/configuration-error.ts';
import { isRequestError } from '../errors/request-error.ts';
import { isPartnerExchangeError } from '../errors/sdk-error.ts';
import type { PartnerIdentity } from '../exchange/partner-identity.ts';
import type { CallOptions } from '../http/call.ts';
import type { Reply } from '../http/reply.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { checkFunction, checkInteger, invalidOption } from '../options/check-values.ts';
import type { KeyStorage } from './key-storage.ts';
import {
  type Generation,
  type KeyRequest,
  type RetiredGeneration,
  type RotationState,
  readState,
  writeState,
} from './rotation-state.ts';
import { type RotationStatus, statusOf } from './rotation-status.ts';
import { checkMayRequest, noKeys, withPromoted, withReceived } from './rotation-steps.ts';

export interface KeyRotationOptions {
  /** Asks for new keys: an `ExchangeClient`. Not needed where nothing calls `request`. */
  exchange?: { regenerateKeys(partner: PartnerIdentity, options?: CallOptions): Promise<Reply> } | undefined;
  /** Keeps the keys: {@link keyFile} or {@link storedKeys}. */
  storage: KeyStorage;
  /**
   * Milliseconds that replaced keys still verify after they were replaced, or after a delivery last matched them: the
   * service may repeat an event that it signed before. It may be a little longer. @default 86400000 (a day)
   */
  overlapMs?: number | undefined;
  /** Milliseconds since 1970. @default Date.now */
  now?: (() => number) | undefined;
}

export interface KeyRequestOptions extends CallOptions {
  /**
   * Asks again although keys were asked for before: the link never came, or nobody knows whether the request arrived.
   * A link that was sent before may stop working. @default false
   */
  again?: boolean | undefined;
}

/** Replaces a partner's keys: see {@link createKeyRotation}. Its functions need no `this`. */
export interface KeyRotation {
  /**
   * Asks the service for new keys; it e-mails a link to them, which works once (contract: Endpoints 3). That it asks is
   * stored before it asks, and that the service accepted afterwards.
   *
   * @throws {KeyError} `rotation_pending` if keys were asked for, or received and not promoted; `rotation_unknown` if it
   *   is not known whether they were asked for. Nothing is sent. Then look for the e-mail, and go on with `receive`, or
   *   ask once more with `again: true`. `keys_unavailable` before the first keys are received
   * @throws {RequestError} With the outcome `unknown`, so is that of the rotation; with any other, nothing is pending
   */
  readonly request: (partner: PartnerIdentity, options?: KeyRequestOptions) => Promise<Reply>;
  /**
   * Stores new keys, before anything else can go wrong: the link shows them once. They verify from now on, and sign
   * once they are promoted. The first keys of all sign at once. What the new keys leave out (merchant secrets, partner
   * ID and code) stays as it was. Keys that were asked for in another way are taken as well.
   *
   * @throws {ConfigurationError} `invalid_credentials` for malformed keys; nothing is stored
   * @throws {KeyError} `keys_known` for keys that were replaced, or for the current ones while new ones are awaited
   */
  readonly receive: (keys: PartnerCredentials) => Promise<void>;
  /**
   * Makes the received keys the ones that sign; those before them only verify. Does nothing if that has happened.
   *
   * @throws {KeyError} `keys_not_received` while they are awaited; `keys_unavailable` if there were never any
   */
  readonly promote: () => Promise<void>;
  /** What signs and what verifies now: the `load` of a key ring. @throws {KeyError} `keys_unavailable` */
  readonly credentials: () => Promise<KeySets>;
  /** Where the rotation stands, without a key. */
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
 * const rotation: KeyRotation = createKeyRotation({ exchange, storage: keyFile({ path: 'keys.json' }) });
 *
 * await rotation.request({ email: 'dev@acme.example', partner_code: 'acme' });
 * await rotation.receive(keysFromTheLink);
 * await ring.reload();
 * await rotation.promote();
 * await ring.reload();
 * ```
 */
export function createKeyRotation(options: KeyRotationOptions): KeyRotation {
  checkNames('createKeyRotation', options, optionNames);
  const { exchange, storage } = options;
  checkFunction('storage.read', storage?.read);
  checkFunction('storage.update', storage.update);
  if (exchange !== undefined) checkFunction('exchange.regenerateKeys', exchange.regenerateKeys);
  const overlapMs = checkInteger('overlapMs', options.overlapMs ?? 86_400_000, { least: 0 });
  const now = checkFunction('now', options.now ?? Date.now);
  // A match is stored at most this often, and replaced keys verify that much longer.
  const noteEveryMs = Math.max(1, Math.min(3_600_000, Math.ceil(overlapMs / 4)));
  const noted = new Map<number, number>();

  const change = (next: (state: RotationState) => RotationState | undefined): Promise<void> =>
    storage.update((text) => {
      const state = next(readState(text));
      return state === undefined ? undefined : writeState(state);
    });
  const verifiesUntil = ({ retiredAt, matchedAt = retiredAt }: RetiredGeneration) =>
    Math.max(retiredAt, matchedAt) + overlapMs + noteEveryMs;
  const stillVerify = (retired: readonly RetiredGeneration[]) =>
    retired.filter((generation) => verifiesUntil(generation) >= now());

  /** Stores that a delivery matched replaced keys, so that they go on verifying. */
  async function noteMatch({ number, matchedAt }: RetiredGeneration): Promise<void> {
    const at = now();
    const isRecent = (time: number | undefined) => time !== undefined && Math.abs(at - time) < noteEveryMs;
    if (isRecent(noted.get(number) ?? matchedAt)) return;
    // Set before the first await: of many deliveries one is enough.
    noted.set(number, at);
    try {
      await change((state) => {
        const stored = state.retired.find((each) => each.number === number);
        if (stored === undefined || isRecent(stored.matchedAt)) return undefined;
        const retired = state.retired.map((each) => (each === stored ? { ...each, matchedAt: at } : each));
        return { ...state, retired };
      });
    } catch (error) {
      // The next delivery may have more luck.
      noted.delete(number);
      throw error;
    }
  }

  return {
    async request(partner, requestOptions = {}) {
      checkNames('request', requestOptions, requestNames);
      const { again = false, ...callOptions } = requestOptions;
      if (typeof again !== 'boolean') throw invalidOption('again must be true or false.');
      if (exchange === undefined) {
        throw new ConfigurationError('not_configured', 'request needs the exchange of createKeyRotation.');
      }
      const request: KeyRequest = { id: crypto.randomUUID(), at: now(), answered: false };
      let before: KeyRequest | undefined;
      await change((state) => {
        checkMayRequest(state, again);
        before = state.request;
        return { ...state, request };
      });
      const note = (outcome: KeyRequest | undefined) =>
        change((state) => (state.request?.id === request.id ? { ...state, request: outcome } : undefined));
      let reply: Reply;
      try {
        reply = await exchange.regenerateKeys(partner, callOptions);
      } catch (error) {
        // If this cannot be stored either, the request stays unknown, which is safe.
        if (hasNotActed(error)) await note(before).catch(() => {});
        throw error;
      }
      await note({ ...request, answered: true });
      return reply;
    },

    async receive(keys) {
      const given = membersOf(defineCredentials(keys));
      await change((state) => withReceived(state, { given, at: now() }));
    },

    promote: () => change((state) => withPromoted(state, { at: now(), stillVerify })),

    async credentials() {
      const { current, pending, retired } = readState(await storage.read());
      if (current === undefined) throw noKeys();
      const replaced = stillVerify(retired);
      const generations: Generation[] = [current, ...(pending === undefined ? [] : [pending]), ...replaced];
      return {
        signing: current.credentials,
        pending: pending?.credentials,
        verifying: generations.map(({ credentials }) => credentials),
        matched: (index) => {
          const generation = replaced.find((each) => each === generations[index]);
          return generation && noteMatch(generation);
        },
      };
    },

    status: async () => statusOf(readState(await storage.read()), verifiesUntil),
  };
}

const optionNames: OptionNames<KeyRotationOptions> = {
  exchange: true,
  storage: true,
  overlapMs: true,
  now: true,
};

const requestNames: OptionNames<KeyRequestOptions> = {
  again: true,
  signal: true,
  timeoutMs: true,
  schema: true,
};

/** Whether the service has certainly not been asked. */
function hasNotActed(error: unknown): boolean {
  if (isRequestError(error)) return error.outcome !== 'unknown';
  // Anything else of ours is thrown before a request is sent.
  return isPartnerExchangeError(error);
}
