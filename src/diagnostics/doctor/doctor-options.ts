import { defineCredentials } from '../../credentials/define-credentials.ts';
import { isKeyRing, type KeyRing, loadedKeys } from '../../credentials/key-ring.ts';
import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import { type Deployment, requireDeployment } from '../../deployment/define-deployment.ts';
import { checkNames, type OptionNames } from '../../options/check-names.ts';
import { checkFunction, checkTimerMs, invalidOption } from '../../options/check-values.ts';
import type { DoctorCheck } from './doctor-check.ts';

export interface DoctorOptions {
  /** The environment variables to check. @default process.env */
  env?: object | undefined;
  /** Instead of the one that the environment gives. */
  deployment?: Deployment<unknown> | undefined;
  /** Instead of those that the environment gives. Of a key ring those that sign: `await ring.reload()` first. */
  credentials?: PartnerCredentials | KeyRing | undefined;
  /**
   * Where the service posts your events. It is sent four requests that a sound receiver refuses: an unsigned and a
   * forged event, GET and HEAD. Name only one of your own.
   */
  callbackUrl?: string | URL | undefined;
  /** Also send the callback one authentic event, about an order that does not exist. @default false */
  sendAuthentic?: boolean | undefined;
  /** A pin made by `pinScheme`, parsed. @default the one in PARTNER_EXCHANGE_SCHEME_FILE or PARTNER_EXCHANGE_SCHEME */
  pin?: unknown;
  /** Recent signed bodies: they must fit the pin too. */
  samples?: readonly (string | Uint8Array)[] | undefined;
  /** Paths of the files of `sqliteInbox`. */
  inboxFiles?: readonly string[] | undefined;
  /** Paths of the files of `sqliteStore`. */
  storeFiles?: readonly string[] | undefined;
  /** The folder whose `node_modules` are looked at. @default the current one */
  projectFolder?: string | undefined;
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined;
  /** All addresses of a host name. @default node:dns */
  lookup?: ((hostname: string) => Promise<readonly string[]>) | undefined;
  /** Milliseconds since 1970. @default Date.now */
  now?: (() => number) | undefined;
  /** Milliseconds for each answer of the network. @default 5000 */
  timeoutMs?: number | undefined;
  /** Stops the checks: `runDoctor` then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Whether what cannot be reached fails; otherwise it is skipped, since this machine may be offline. @default false */
  strict?: boolean | undefined;
  /** Called with each check as it is done, in their order, and waited for. */
  onCheck?: ((check: DoctorCheck) => unknown) | undefined;
}

/** The options, checked and with their defaults. */
export interface ResolvedDoctorOptions {
  readonly env: object;
  readonly deployment: Deployment<unknown> | undefined;
  readonly credentials: PartnerCredentials | undefined;
  readonly callbackUrl: URL | undefined;
  readonly sendAuthentic: boolean;
  readonly pin: unknown;
  readonly samples: readonly (string | Uint8Array)[];
  readonly inboxFiles: readonly string[];
  readonly storeFiles: readonly string[];
  readonly projectFolder: string | undefined;
  readonly fetch: typeof fetch;
  readonly lookup: ((hostname: string) => Promise<readonly string[]>) | undefined;
  readonly now: () => number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly strict: boolean;
  readonly onCheck: (check: DoctorCheck) => unknown;
}

const optionNames: OptionNames<DoctorOptions> = {
  env: true,
  deployment: true,
  credentials: true,
  callbackUrl: true,
  sendAuthentic: true,
  pin: true,
  samples: true,
  inboxFiles: true,
  storeFiles: true,
  projectFolder: true,
  fetch: true,
  lookup: true,
  now: true,
  timeoutMs: true,
  signal: true,
  strict: true,
  onCheck: true,
};

const defaults = Object.freeze({ timeoutMs: 5000 });

/** @throws {ConfigurationError} @throws {KeyError} `keys_unavailable` */
export function resolveDoctorOptions(options: DoctorOptions): ResolvedDoctorOptions {
  checkNames('runDoctor', options, optionNames);
  const { env = process.env, deployment, credentials, callbackUrl, lookup, signal, projectFolder } = options;
  if (typeof env !== 'object' || env === null) throw invalidOption('env must be an object of variables.');
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalidOption('signal must be an AbortSignal.');
  }
  if (projectFolder !== undefined && typeof projectFolder !== 'string') {
    throw invalidOption('projectFolder must be a path.');
  }
  return {
    env,
    deployment: deployment && requireDeployment(deployment),
    credentials: isKeyRing(credentials)
      ? loadedKeys(credentials).signing
      : credentials && defineCredentials(credentials),
    callbackUrl: callbackUrl === undefined ? undefined : checkCallbackUrl(callbackUrl),
    sendAuthentic: checkBoolean('sendAuthentic', options.sendAuthentic),
    pin: options.pin,
    samples: checkList(
      'samples',
      options.samples,
      (one) => typeof one === 'string' || ArrayBuffer.isView(one),
    ),
    inboxFiles: checkList('inboxFiles', options.inboxFiles, isPath),
    storeFiles: checkList('storeFiles', options.storeFiles, isPath),
    projectFolder,
    fetch: checkFunction('fetch', options.fetch ?? globalThis.fetch),
    lookup: lookup && checkFunction('lookup', lookup),
    now: checkFunction('now', options.now ?? Date.now),
    timeoutMs: checkTimerMs('timeoutMs', options.timeoutMs ?? defaults.timeoutMs),
    signal,
    strict: checkBoolean('strict', options.strict),
    onCheck: checkFunction('onCheck', options.onCheck ?? (() => {})),
  };
}

function checkCallbackUrl(value: unknown): URL {
  if ((typeof value !== 'string' && !(value instanceof URL)) || !URL.canParse(String(value))) {
    throw invalidOption('callbackUrl must be an absolute URL.');
  }
  const url = new URL(String(value));
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalidOption('callbackUrl must begin with http: or https:.');
  }
  if (url.username !== '' || url.password !== '') {
    throw invalidOption('callbackUrl must not hold credentials.');
  }
  return url;
}

function checkBoolean(name: string, value: unknown): boolean {
  if (value === undefined || typeof value === 'boolean') return value ?? false;
  throw invalidOption(`${name} must be true or false.`);
}

function checkList<Item>(
  name: string,
  list: readonly Item[] | undefined,
  isItem: (item: unknown) => boolean,
): readonly Item[] {
  if (list === undefined) return [];
  if (Array.isArray(list) && list.every(isItem)) return list;
  throw invalidOption(`${name} must be a list of ${name === 'samples' ? 'texts or bytes' : 'paths'}.`);
}

function isPath(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
