import { defineCredentials } from '../../credentials/define-credentials.ts';
import { isKeyRing, type KeyRing, loadedKeys } from '../../credentials/key-ring.ts';
import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import type { Deployment } from '../../deployment/define-deployment.ts';
import { readSigningPart } from '../../deployment/signing-part.ts';
import {
  abortSignal,
  callback,
  defineOptions,
  invalidOption,
  type OptionTable,
  optional,
  timerMs,
  value,
} from '../../internal/options.ts';
import type { AttackResult } from './attack-case.ts';

/** Options of `attackReceiver`. */
export interface AttackOptions {
  /**
   * The receiver's credentials, which sign the authentic deliveries. With several merchants the first one's key signs. A key
   * ring needs `await ring.reload()` first.
   */
  credentials: PartnerCredentials | KeyRing;
  /** The receiver's signature scheme and wire names. @default the default scheme, the published names */
  deployment?: Pick<Deployment<unknown>, 'signature' | 'wireNames'> | undefined;
  /**
   * Sends the requests. With it, cases that need a raw connection are skipped.
   * @default globalThis.fetch
   */
  fetch?: typeof fetch | undefined;
  /** Stops the attack, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The limit for one answer in milliseconds; a slower receiver hangs. @default 10000 */
  timeoutMs?: number | undefined;
  /**
   * The name of the host in the URL, which confirms that it is yours. Required for any other machine, since the
   * attack floods the receiver and tries to break it.
   */
  iOwnThisHost?: string | undefined;
  /**
   * Tells how often your code acted on an order, once for each event: look it up in your records. An event that is kept
   * for a person, such as a dead letter of an inbox, counts too. Without it, `handled-once`, `handled-next-event`,
   * `handled-after-forgeries` and `acted-before-verification` are skipped, and of `authentic-unfamiliar` and
   * `authentic-other-shape` only refusals are judged.
   */
  handled?: ((partnerOrderId: string) => number | Promise<number>) | undefined;
  /** The ids of the cases to run. @default all */
  only?: readonly string[] | undefined;
  /** The ids of cases to leave out. @default none */
  skip?: readonly string[] | undefined;
  /** Called with each result, and awaited. */
  onResult?: ((result: AttackResult) => unknown) | undefined;
}

/** @throws {ConfigurationError} @throws {KeyError} `keys_unavailable` */
export const readAttackOptions = defineOptions('attackReceiver', {
  credentials: (given) => {
    if (isKeyRing(given)) return loadedKeys(given).signing;
    // Sound: defineCredentials checks it.
    return defineCredentials(given as PartnerCredentials);
  },
  deployment: readSigningPart,
  fetch: optional(callback<typeof fetch>()),
  signal: abortSignal(),
  timeoutMs: timerMs({ default: 10_000 }),
  iOwnThisHost: optional((given) => {
    if (typeof given === 'string' && given !== '') return given;
    throw invalidOption('iOwnThisHost must be the name of the host, as in the URL.');
  }),
  handled: optional(callback<NonNullable<AttackOptions['handled']>>()),
  only: optional(checkIds),
  skip: value(checkIds, { default: [] }),
  onResult: callback<NonNullable<AttackOptions['onResult']>>({ default: () => {} }),
} satisfies OptionTable<AttackOptions>);

export type AttackSettings = ReturnType<typeof readAttackOptions>;

function checkIds(ids: unknown, name: string): readonly string[] {
  if (Array.isArray(ids) && ids.every((id) => typeof id === 'string')) return ids;
  throw invalidOption(`${name} must be a list of ids of cases.`);
}

/** A URL without its fragment. @throws {ConfigurationError} `invalid_option` */
export function checkHttpUrl(name: string, given: unknown): URL {
  if ((typeof given !== 'string' && !(given instanceof URL)) || !URL.canParse(String(given))) {
    throw invalidOption(`${name} must be an absolute URL.`);
  }
  const url = new URL(String(given));
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalidOption(`${name} must begin with http: or https:.`);
  }
  if (url.username !== '' || url.password !== '') throw invalidOption(`${name} must not hold credentials.`);
  url.hash = '';
  return url;
}
