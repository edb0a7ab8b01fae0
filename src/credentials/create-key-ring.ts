import { composeMessage, KeyError } from '../errors/errors.ts';
import { withDeadline } from '../internal/deadline.ts';
import { redactError } from '../internal/driver-error.ts';
import {
  callback,
  defineOptions,
  integer,
  type OptionTable,
  optional,
  timerMs,
} from '../internal/options.ts';
import { callHook, warnOnce } from '../internal/warn.ts';
import { allKeysOf } from './define-credentials.ts';
import { type KeyRing, type KeySets, keySetsOf, type LoadedKeys, sameKeySets } from './key-ring.ts';

/** Options of {@link createKeyRing}. */
export interface KeyRingOptions {
  /**
   * Reads the keys, from wherever you keep them: one set of credentials, or a list with the newest first (the first
   * signs, all verify), or `rotation.credentials` of `./keys`. The signal is aborted past `timeoutMs`.
   */
  load: (options: { readonly signal: AbortSignal }) => LoadedKeys | Promise<LoadedKeys>;
  /**
   * Least milliseconds between two loads that an unknown signature causes, and after a load that failed. Until then a
   * signature that matches none of the keys may be one of newer keys: webhooks answer 503 with `Retry-After`.
   * @default 5000
   */
  cooldownMs?: number | undefined;
  /** Milliseconds after which the keys are read again before they are used. @default 600000 */
  maxAgeMs?: number | undefined;
  /** Milliseconds before a load counts as failed. @default 5000 */
  timeoutMs?: number | undefined;
  /** Milliseconds of a clock that is never set back. @default performance.now */
  now?: (() => number) | undefined;
  /**
   * Called when a load fails. Nothing waits for it. Without it each reason is one process warning. The error never shows
   * a key.
   */
  onError?: ((error: KeyError) => unknown) | undefined;
}

const readOptions = defineOptions('createKeyRing', {
  load: callback(),
  cooldownMs: integer({ default: 5_000, least: 0 }),
  maxAgeMs: integer({ default: 600_000 }),
  timeoutMs: timerMs({ default: 5_000 }),
  now: callback({ default: () => performance.now() }),
  onError: optional(callback()),
} satisfies OptionTable<KeyRingOptions>);

/**
 * Makes a ring of keys that clients, webhooks and diagnostics read again by themselves, so that new keys need no
 * restart: when they are older than `maxAgeMs`, when the service refuses a call with 401 or 403, and when a signature
 * matches none of them, at most once per `cooldownMs`. So forged deliveries cannot make it read more often than that.
 *
 * Everybody who needs keys while they are read waits for the same load. If it fails, the last good keys are kept. Without
 * any, clients throw a {@link KeyError} `keys_unavailable`, and webhooks answer 503 with `Retry-After`: the
 * delivery may be authentic, so the service should send it again.
 *
 * @throws {ConfigurationError} `invalid_option`
 * @example
 * ```ts
 * const ring = createKeyRing({ load: async ({ signal }) => await secrets.read('exchange', { signal }) });
 * const exchange = new ExchangeClient({ deployment, credentials: ring });
 * const webhooks = createWebhooks({ deployment, credentials: ring });
 * ```
 */
export function createKeyRing(options: KeyRingOptions): KeyRing {
  return new LoadedKeyRing(readOptions(options));
}

type LoadCause = NonNullable<Parameters<KeyRing['newerThan']>[1]>;

type KeyRingSettings = ReturnType<typeof readOptions>;

class LoadedKeyRing implements KeyRing {
  readonly #options: KeyRingSettings;
  #loaded: KeySets | undefined;
  /** The result of the last load that worked: with the same keys as `#loaded`, but it may know more about the source. */
  #latest: KeySets | undefined;
  #readAt: number | undefined;
  /** When the last load began, whether it succeeded or not. */
  #triedAt: number | undefined;
  /** When the last load began that starts a cool-down. One after a refusal does not, unless it fails. */
  #cooldownFrom: number | undefined;
  #loading: Promise<void> | undefined;
  #failure: KeyError | undefined;

  constructor(options: KeyRingSettings) {
    this.#options = options;
  }

  get loaded(): KeySets | undefined {
    return this.#loaded;
  }

  current(): KeySets | Promise<KeySets> {
    const loaded = this.#loaded;
    return loaded !== undefined && this.#since(this.#readAt) < this.#options.maxAgeMs
      ? loaded
      : this.#refreshed();
  }

  async newerThan(used: KeySets, cause: LoadCause = 'signature'): Promise<KeySets | undefined> {
    // A load that runs may have read the keys before they were changed.
    if (this.#loading !== undefined && !this.#isLost()) await this.#loading.catch(() => {});
    // Another call may have read it meanwhile.
    if (this.#loaded === used) await this.#loadAgain(cause);
    if (this.#loaded !== used) return this.#loaded;
    this.checkSettled();
    return undefined;
  }

  checkSettled(): void {
    const { awaited, unconfirmed } = this.#latest ?? {};
    const retryAfterMs = this.#options.cooldownMs;
    if (awaited === true) {
      const what = 'New keys were asked for and not received yet, and the service may use them already.';
      throw new KeyError('keys_not_received', what, { retryAfterMs });
    }
    if (unconfirmed?.() === true) {
      const what = 'No delivery has matched the newest keys yet: they may have been typed wrong.';
      throw new KeyError('keys_unconfirmed', what, { retryAfterMs });
    }
  }

  async reload(): Promise<void> {
    // A load that runs may have read the keys before they were changed.
    await this.#loading?.catch(() => {});
    await this.#load();
  }

  /** @throws {KeyError} when it is not known whether the keys are still those of the source */
  async #loadAgain(cause: LoadCause): Promise<void> {
    const isAtOnce = cause === 'refusal' && this.#failure === undefined;
    if (!isAtOnce && this.#loading === undefined && this.#cooldownLeft() > 0) throw this.#notReadAgain();
    await this.#load(cause).catch(() => {
      throw this.#notReadAgain();
    });
  }

  #notReadAgain(): KeyError {
    const retryAfterMs = this.#cooldownLeft();
    if (this.#failure !== undefined) {
      const what = `The key ring may hold old keys, and reads them again in ${seconds(retryAfterMs)} (cooldownMs): ${reasonOf(this.#failure)}`;
      return new KeyError('keys_not_loaded', what, { cause: this.#failure.cause, retryAfterMs });
    }
    const age = seconds(this.#since(this.#readAt));
    const what = `The key ring read its keys ${age} ago, and reads them again in ${seconds(retryAfterMs)} (cooldownMs).`;
    return new KeyError('keys_cooling_down', what, { retryAfterMs });
  }

  async #refreshed(): Promise<KeySets> {
    if (this.#loading !== undefined || this.#cooldownLeft() === 0) await this.#load().catch(() => {});
    if (this.#loaded !== undefined) return this.#loaded;
    const retryAfterMs = this.#cooldownLeft();
    const what = `The key ring has no keys: ${this.#failure ? reasonOf(this.#failure) : 'they are being loaded'}`;
    const remedy = this.#failure && 'See the cause: the ring tries again.';
    throw new KeyError('keys_unavailable', what, { remedy, cause: this.#failure?.cause, retryAfterMs });
  }

  #cooldownLeft(): number {
    return Math.max(0, this.#options.cooldownMs - this.#since(this.#cooldownFrom));
  }

  #load(cause?: LoadCause): Promise<void> {
    if (this.#loading !== undefined && !this.#isLost()) return this.#loading;
    // Set before the first await: everybody who comes now must share this load.
    this.#triedAt = this.#options.now();
    if (cause !== 'refusal') this.#cooldownFrom = this.#triedAt;
    const loading = this.#loadOnce().finally(() => {
      if (this.#loading === loading) this.#loading = undefined;
    });
    this.#loading = loading;
    return loading;
  }

  /** workerd drops the load of a cancelled request, with its timer. */
  #isLost(): boolean {
    const { cooldownMs, timeoutMs } = this.#options;
    return this.#since(this.#triedAt) > Math.max(cooldownMs, 2 * timeoutMs);
  }

  async #loadOnce(): Promise<void> {
    const { load, timeoutMs, onError } = this.#options;
    const tooLate = () => new KeyError('keys_not_loaded', `load did not settle within ${timeoutMs} ms.`);
    try {
      const loaded = await withDeadline({ ms: timeoutMs, tooLate }, async (signal) => load({ signal }));
      const sets = keySetsOf(loaded);
      this.#readAt = this.#options.now();
      this.#failure = undefined;
      this.#latest = sets;
      // The same object as long as the keys are the same: that is how others see that nothing has changed.
      if (this.#loaded === undefined || !sameKeySets(this.#loaded, sets)) this.#loaded = sets;
    } catch (error) {
      const cause = redactError(error, this.#loaded?.verifying.flatMap(allKeysOf) ?? []);
      const what = `The keys could not be loaded: ${reasonOf({ cause })}`;
      const failure = new KeyError('keys_not_loaded', what, { cause });
      this.#failure = failure;
      this.#cooldownFrom = this.#triedAt;
      if (onError !== undefined) callHook('createKeyRing: onError', () => onError(failure));
      else warnOnce(composeMessage({ what, remedy: goesOn }, failure.code));
      throw failure;
    }
  }

  /** Milliseconds since a time; endless without one. A clock that was set back makes keys old, and not young. */
  #since(time: number | undefined): number {
    return time === undefined ? Number.POSITIVE_INFINITY : Math.abs(this.#options.now() - time);
  }
}

const goesOn =
  'The key ring goes on with the keys it has: give createKeyRing an onError to hear of each failure.';

/** Why a load failed. Its cause is redacted. */
function reasonOf({ cause }: { readonly cause?: unknown }): string {
  return cause instanceof Error ? cause.message : 'the cause is unknown';
}

function seconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 100) / 10} s`;
}
