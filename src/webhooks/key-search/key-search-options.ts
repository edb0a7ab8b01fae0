import { checkNames, type OptionNames } from '../../options/check-names.ts';
import { checkFunction, checkInteger } from '../../options/check-values.ts';
import { withDefaults } from '../../options/with-defaults.ts';

/** How much may be spent on searching for the key of a delivery. */
export interface KeySearchOptions {
  /**
   * Most keys a second that are tried in searches. One takes 3 to 5 microseconds of a core (a body counts once for
   * every 4 KiB). Beyond it a delivery is answered with 503 and `Retry-After`. Not counted are the first four keys that
   * are tried on each delivery, so receivers with so few keys are never limited.
   * @default 50000
   */
  keysPerSecond?: number | undefined;
  /** Milliseconds of any clock, best one that nobody sets. @default performance.now */
  now?: (() => number) | undefined;
}

/** The options, checked and with their defaults. */
export interface ResolvedKeySearchOptions {
  readonly keysPerSecond: number;
  readonly now: () => number;
}

const optionNames: OptionNames<KeySearchOptions> = { keysPerSecond: true, now: true };

const defaults: ResolvedKeySearchOptions = Object.freeze({
  keysPerSecond: 50_000,
  now: () => performance.now(),
});

/** @throws {ConfigurationError} `invalid_option` */
export function resolveKeySearchOptions(options: KeySearchOptions = {}): ResolvedKeySearchOptions {
  checkNames('keySearch', options, optionNames);
  const { keysPerSecond, now } = withDefaults(options, defaults);
  return {
    keysPerSecond: checkInteger('keySearch.keysPerSecond', keysPerSecond),
    now: checkFunction('keySearch.now', now),
  };
}
