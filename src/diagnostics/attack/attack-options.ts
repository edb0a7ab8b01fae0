import { defineCredentials } from '../../credentials/define-credentials.ts';
import { isKeyRing, type KeyRing, loadedKeys } from '../../credentials/key-ring.ts';
import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import { merchantsFor, signingKey } from '../../credentials/signing-key.ts';
import type { Deployment } from '../../deployment/define-deployment.ts';
import { checkWireNames, type WireNames } from '../../deployment/wire-names.ts';
import { checkNames, type OptionNames } from '../../options/check-names.ts';
import { checkFunction, checkTimerMs, invalidOption } from '../../options/check-values.ts';
import { checkScheme, defaultScheme, type SignatureScheme } from '../../signature/signature-scheme.ts';
import type { AttackResult } from './attack-result.ts';
import { checkOwnHost } from './own-host.ts';

export interface AttackOptions {
  /**
   * Those of the receiver: they sign the authentic deliveries. Of several merchants the first one signs. Of a key ring
   * those that sign: `await ring.reload()` first.
   */
  credentials: PartnerCredentials | KeyRing;
  /** Its signature scheme and wire names. @default the default scheme, the published names */
  deployment?: Pick<Deployment<unknown>, 'signature' | 'wireNames'> | undefined;
  /**
   * Sends the requests. Cases that need a connection of their own are skipped with it.
   * @default globalThis.fetch
   */
  fetch?: typeof fetch | undefined;
  /** Stops the attack: it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for one answer; a receiver that takes longer hangs. @default 10000 */
  timeoutMs?: number | undefined;
  /**
   * The name of the host in the URL, which says that it is yours. Needed for everything but this machine: the attack
   * floods, and looks for what breaks.
   */
  iOwnThisHost?: string | undefined;
  /**
   * Tells how often your code has acted on an order: look it up where you record it. Without it, only answers can be
   * judged, and `handled-once` and `acted-before-verification` are skipped.
   */
  handled?: ((partnerOrderId: string) => number | Promise<number>) | undefined;
  /** The ids of the cases to run. @default all */
  only?: readonly string[] | undefined;
  /** The ids of cases to leave out. @default none */
  skip?: readonly string[] | undefined;
  /** Called with each result as it comes, and waited for. */
  onResult?: ((result: AttackResult) => unknown) | undefined;
}

export interface ResolvedAttackOptions {
  readonly url: URL;
  readonly credentials: PartnerCredentials;
  readonly scheme: SignatureScheme;
  readonly wireNames: WireNames;
  /** The key of order events. */
  readonly key: string;
  readonly fetch: typeof fetch;
  readonly hasOwnFetch: boolean;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly handled: AttackOptions['handled'];
  readonly only: readonly string[] | undefined;
  readonly skip: readonly string[];
  readonly onResult: (result: AttackResult) => unknown;
}

const optionNames: OptionNames<AttackOptions> = {
  credentials: true,
  deployment: true,
  fetch: true,
  signal: true,
  timeoutMs: true,
  iOwnThisHost: true,
  handled: true,
  only: true,
  skip: true,
  onResult: true,
};

const defaults = Object.freeze({ timeoutMs: 10_000 });

/** @throws {ConfigurationError} @throws {KeyError} `keys_unavailable` */
export function resolveAttackOptions(url: string | URL, options: AttackOptions): ResolvedAttackOptions {
  checkNames('attackReceiver', options, optionNames);
  const target = checkUrl(url);
  checkOwnHost(target, options.iOwnThisHost);
  const given = options.credentials;
  const credentials = isKeyRing(given) ? loadedKeys(given).signing : defineCredentials(given);
  const scheme = checkScheme(options.deployment?.signature ?? defaultScheme);
  const { fetch: ownFetch, signal, handled, onResult, only, skip } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalidOption('signal must be an AbortSignal.');
  }
  return {
    url: target,
    credentials,
    scheme,
    wireNames: checkWireNames(options.deployment?.wireNames),
    key: signingKey(credentials, 'order', { merchant: merchantsFor(credentials, scheme)[0], scheme }),
    fetch: checkFunction('fetch', ownFetch ?? globalThis.fetch),
    hasOwnFetch: ownFetch !== undefined,
    signal,
    timeoutMs: checkTimerMs('timeoutMs', options.timeoutMs ?? defaults.timeoutMs),
    handled: handled && checkFunction('handled', handled),
    only: only && checkIds('only', only),
    skip: checkIds('skip', skip ?? []),
    onResult: checkFunction('onResult', onResult ?? (() => {})),
  };
}

function checkUrl(value: unknown): URL {
  if ((typeof value !== 'string' && !(value instanceof URL)) || !URL.canParse(String(value))) {
    throw invalidOption('attackReceiver needs the absolute URL of the receiver.');
  }
  const url = new URL(String(value));
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalidOption('The URL of the receiver must begin with http: or https:.');
  }
  if (url.username !== '' || url.password !== '') {
    throw invalidOption('The URL of the receiver must not hold credentials.');
  }
  url.hash = '';
  return url;
}

function checkIds(name: 'only' | 'skip', ids: unknown): readonly string[] {
  if (Array.isArray(ids) && ids.every((id) => typeof id === 'string')) return ids;
  throw invalidOption(`${name} must be a list of ids of cases.`);
}
