import { KeyError } from '../errors/key-error.ts';
import { warn } from '../errors/warn.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { checkFunction, checkInteger, checkTimerMs } from '../options/check-values.ts';
import { withDefaults } from '../options/with-defaults.ts';
import { redactError } from '../redaction/redact-request.ts';
import { settledWithin } from '../runtime/settled-within.ts';
import type { KeyRing } from './key-ring.ts';
import { areSameSets, type KeySets, keySetsOf, type LoadedKeys, secretsOf } from './key-sets.ts';

export interface KeyRingOptions {
  /**
   * Reads the keys, from wherever you keep them: one set of credentials, or a list with the newest first (the first
   * signs, all verify), or `rotation.credentials` of `./rotation`. The signal is aborted past `timeLimitMs`.
   */
  load: (options: { readonly signal: AbortSignal }) => LoadedKeys | Promise<LoadedKeys>;
  /**
   * Least milliseconds between two loads, also after a load that failed. Until then a signature that matches none of
   * the keys is refused with the keys there are. @default 30000
   */
  cooldownMs?: number | undefined;
  /** Milliseconds after which the keys are read again before they are used. @default 600000 */
  maxAgeMs?: number | undefined;
  /** Milliseconds before a load counts as failed. @default 5000 */
  timeLimitMs?: number | undefined;
  /** Milliseconds of any clock, best one that nobody sets. @default performance.now */
  now?: (() => number) | undefined;
  /**
   * Called when a load fails. Nothing waits for it. Without it there is one process warning, and none for later
   * failures. The error never shows a key.
   */
  onError?: ((error: KeyError) => unknown) | undefined;
}

const optionNames: OptionNames<KeyRingOptions> = {
  load: true,
  cooldownMs: true,
  maxAgeMs: true,
  timeLimitMs: true,
  now: true,
  onError: true,
};

const defaults: Readonly<Record<'cooldownMs' | 'maxAgeMs' | 'timeLimitMs', number> & { now: () => number }> =
  Object.freeze({
    cooldownMs: 30_000,
    maxAgeMs: 600_000,
    timeLimitMs: 5_000,
    // Never set back, unlike Date.now.
    now: () => performance.now(),
  });

/**
 * Makes a ring of keys that clients, webhooks and diagnostics read again by themselves, so that new keys need no
 * restart: when they are older than `maxAgeMs`, and when a signature matches none of them, or the service refuses them,
 * at most once per `cooldownMs`. So forged deliveries cannot make it read more often than that.
 *
 * Everybody who needs keys while they are read waits for the same load. If it fails, the last good keys are kept. If
 * there are none, clients throw a {@link KeyError} `keys_unavailable`, and webhooks answer 503 with `Retry-After`: the
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
  checkNames('createKeyRing', options, optionNames);
  const given = withDefaults(options, defaults);
  return new LoadedKeyRing({
    load: checkFunction('load', given.load),
    cooldownMs: checkInteger('cooldownMs', given.cooldownMs, { least: 0 }),
    maxAgeMs: checkInteger('maxAgeMs', given.maxAgeMs),
    timeLimitMs: checkTimerMs('timeLimitMs', given.timeLimitMs),
    now: checkFunction('now', given.now),
    onError: given.onError && checkFunction('onError', given.onError),
  });
}

type ResolvedOptions = Required<Omit<KeyRingOptions, keyof typeof defaults>> & typeof defaults;

/** A time of the ring's clock. */
interface Mark {
  at: number;
}

class LoadedKeyRing implements KeyRing {
  readonly #options: ResolvedOptions;
  #loaded: KeySets | undefined;
  /** When the keys were read. */
  #readAt: Mark | undefined;
  /** When the last load began, whether it succeeded or not. */
  #triedAt: Mark | undefined;
  #loading: Promise<void> | undefined;
  #failure: KeyError | undefined;
  readonly #warned = new Set<string>();

  constructor(options: ResolvedOptions) {
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

  async newerThan(used: KeySets): Promise<KeySets | undefined> {
    // What another call has read in the meantime counts as well.
    if (this.#loaded === used) await this.#loadUnlessCooling().catch(() => {});
    return this.#loaded === used ? undefined : this.#loaded;
  }

  async reload(): Promise<void> {
    // A load that runs may have read the keys before they were changed.
    await this.#loading?.catch(() => {});
    await this.#load();
  }

  async #refreshed(): Promise<KeySets> {
    await this.#loadUnlessCooling().catch(() => {});
    if (this.#loaded !== undefined) return this.#loaded;
    const retryAfterMs = Math.max(0, this.#options.cooldownMs - this.#since(this.#triedAt));
    throw new KeyError(
      'keys_unavailable',
      `The key ring has no keys: ${this.#failure?.message ?? 'they are being loaded.'}`,
      { cause: this.#failure?.cause, retryAfterMs },
    );
  }

  async #loadUnlessCooling(): Promise<void> {
    if (this.#loading !== undefined || this.#since(this.#triedAt) >= this.#options.cooldownMs)
      await this.#load();
  }

  #load(): Promise<void> {
    if (this.#loading !== undefined && !this.#isLost()) return this.#loading;
    // Set before the first await: everybody who comes now must share this load.
    this.#triedAt = { at: this.#options.now() };
    const loading = this.#loadOnce().finally(() => {
      if (this.#loading === loading) this.#loading = undefined;
    });
    this.#loading = loading;
    return loading;
  }

  /** When a request is cancelled, workerd drops the load that it began, and its timer with it. */
  #isLost(): boolean {
    const { cooldownMs, timeLimitMs } = this.#options;
    return this.#since(this.#triedAt) > Math.max(cooldownMs, 2 * timeLimitMs);
  }

  async #loadOnce(): Promise<void> {
    try {
      const sets = await this.#read();
      this.#readAt = { at: this.#options.now() };
      this.#failure = undefined;
      // The same object as long as the keys are the same: that is how others see that nothing has changed.
      if (this.#loaded === undefined || !areSameSets(this.#loaded, sets)) this.#loaded = sets;
    } catch (error) {
      this.#failure = this.#describe(error);
      this.#report(this.#failure);
      throw this.#failure;
    }
  }

  async #read(): Promise<KeySets> {
    const { load, timeLimitMs } = this.#options;
    const controller = new AbortController();
    const loading = (async () => load({ signal: controller.signal }))();
    if (await settledWithin([loading], timeLimitMs)) return keySetsOf(await loading);
    controller.abort();
    throw new KeyError('keys_not_loaded', `load did not settle within ${timeLimitMs} ms.`);
  }

  #describe(error: unknown): KeyError {
    const known = this.#loaded?.verifying.flatMap(secretsOf) ?? [];
    const cause = redactError(error, known);
    return new KeyError(
      'keys_not_loaded',
      `the keys could not be loaded (${cause?.message ?? 'nothing is known of the cause'}).`,
      { cause },
    );
  }

  #report(error: KeyError): void {
    const { onError } = this.#options;
    if (onError === undefined) {
      this.#warnOnce(
        `A key ring goes on with the keys it has: ${error.message} Give createKeyRing an onError to hear of each failure.`,
        'load',
      );
      return;
    }
    void (async () => onError(error))().catch(() =>
      this.#warnOnce('onError of a key ring failed; the ring is not affected.', 'onError'),
    );
  }

  #warnOnce(message: string, kind: 'load' | 'onError'): void {
    if (this.#warned.has(kind)) return;
    this.#warned.add(kind);
    warn(message);
  }

  /** Milliseconds since a mark; endless without one. If the clock was set back, it starts again from now. */
  #since(mark: Mark | undefined): number {
    if (mark === undefined) return Number.POSITIVE_INFINITY;
    const elapsed = this.#options.now() - mark.at;
    if (elapsed >= 0) return elapsed;
    mark.at += elapsed;
    return 0;
  }
}
