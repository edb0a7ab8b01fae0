import { defineCredentials, secretKeysOf } from '../../../credentials/define-credentials.ts';
import { isKeyRing, type KeyRing, loadedKeys } from '../../../credentials/key-ring.ts';
import type { PartnerCredentials } from '../../../credentials/partner-credentials.ts';
import { type Deployment, requireDeployment } from '../../../deployment/define-deployment.ts';
import type { BaseUrlName } from '../../../deployment/operations.ts';
import { platformFetch } from '../../../deployment/platform-fetch.ts';
import { type Environment, readEnvironment } from '../../../deployment/read-environment.ts';
import { type ConfigurationError, codeOf, isConfigurationError } from '../../../errors/errors.ts';
import { DeadlineError, withDeadline } from '../../../internal/deadline.ts';
import {
  abortSignal,
  callback,
  defineOptions,
  flag,
  invalidOption,
  type OptionTable,
  optional,
  timerMs,
  unchecked,
  value,
} from '../../../internal/options.ts';
import { checkHttpUrl } from '../attack/attack-options.ts';
import { type PostAnswer, postRequest } from '../post-request.ts';

/** Options of {@link runDoctor}. */
export interface DoctorOptions {
  /** The environment variables to check. @default process.env */
  env?: object | undefined;
  /** Replaces the environment's deployment. */
  deployment?: Deployment<unknown> | undefined;
  /** Replaces the environment's credentials. A key ring needs `await ring.reload()` first. */
  credentials?: PartnerCredentials | KeyRing | undefined;
  /**
   * Where the service posts your events. It gets four requests that a sound receiver refuses: an unsigned and a
   * forged event, GET and HEAD. Name only your own address.
   */
  callbackUrl?: string | URL | undefined;
  /** Also sends the callback one authentic event, about an order that does not exist. @default false */
  sendAuthentic?: boolean | undefined;
  /** A pin made by `pinScheme`, parsed. @default the one in PARTNER_EXCHANGE_SCHEME_FILE or PARTNER_EXCHANGE_SCHEME */
  pin?: unknown;
  /** Recent signed bodies, which must fit the pin too. */
  samples?: readonly (string | Uint8Array)[] | undefined;
  /** Paths of the files of `sqliteInbox`. */
  inboxFiles?: readonly string[] | undefined;
  /** Paths of the files of `sqliteStore`. */
  storeFiles?: readonly string[] | undefined;
  /** The folder whose `node_modules` are examined. @default the current one */
  projectFolder?: string | undefined;
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined;
  /** All addresses of a host name. @default node:dns */
  lookup?: ((hostname: string) => Promise<readonly string[]>) | undefined;
  /** Milliseconds since 1970. @default Date.now */
  now?: (() => number) | undefined;
  /** The limit for each answer of the network, in milliseconds. @default 5000 */
  timeoutMs?: number | undefined;
  /** Stops the checks: `runDoctor` then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * Whether an unreachable address fails. By default it is skipped, since this machine may be offline. @default
   * false
   */
  strict?: boolean | undefined;
}

/** @throws {ConfigurationError} @throws {KeyError} `keys_unavailable` */
export const readDoctorOptions = defineOptions('runDoctor', {
  env: optional((given) => {
    if (typeof given === 'object' && given !== null) return given;
    throw invalidOption('env must be an object of variables.');
  }),
  // Sound: requireDeployment and defineCredentials check them.
  deployment: optional((given) => requireDeployment(given as Deployment<unknown>)),
  credentials: optional((given) =>
    isKeyRing(given) ? loadedKeys(given).signing : defineCredentials(given as PartnerCredentials),
  ),
  callbackUrl: optional((given, name) => checkHttpUrl(name, given)),
  sendAuthentic: flag({ default: false }),
  pin: unchecked<unknown>(),
  samples: value(
    (given, name) => {
      if (Array.isArray(given) && given.every(isBody)) return given;
      throw invalidOption(`${name} must be a list of texts or bytes.`);
    },
    { default: [] },
  ),
  inboxFiles: value(checkPaths, { default: [] }),
  storeFiles: value(checkPaths, { default: [] }),
  projectFolder: optional((given, name) => {
    if (typeof given === 'string') return given;
    throw invalidOption(`${name} must be a path.`);
  }),
  fetch: callback<typeof fetch>({ default: platformFetch }),
  lookup: optional(callback<NonNullable<DoctorOptions['lookup']>>()),
  now: callback({ default: () => Date.now() }),
  timeoutMs: timerMs({ default: 5000 }),
  signal: abortSignal(),
  strict: flag({ default: false }),
} satisfies OptionTable<DoctorOptions>);

type DoctorSettings = ReturnType<typeof readDoctorOptions>;

function isBody(item: unknown): boolean {
  return typeof item === 'string' || ArrayBuffer.isView(item);
}

function checkPaths(given: unknown, name: string): readonly string[] {
  if (Array.isArray(given) && given.every((path) => typeof path === 'string' && path !== '')) return given;
  throw invalidOption(`${name} must be a list of paths.`);
}

export interface DoctorContext extends DoctorSettings {
  readonly env: object;
  /** The environment's configuration, or why it cannot be read. */
  readonly environment: Environment<unknown> | ConfigurationError;
  /** The versions of the runtime and its parts. Tests replace them. */
  readonly versions: Readonly<Record<string, string | undefined>>;
  /** Further trusted certificate authorities, as PEM. */
  readonly ca: string | undefined;
  /** The secrets that no check may show. */
  readonly secrets: readonly string[];
  /** The answer of a base URL to one GET, with its time. @returns `undefined` without that URL */
  answerOf(name: BaseUrlName): Promise<TimedAnswer> | undefined;
  /** The addresses of a host, or why they are unknown. */
  addressesOf(hostname: string): Promise<readonly string[] | { readonly failure: string }>;
}

interface TimedAnswer {
  readonly answer: PostAnswer;
  readonly at: number;
}

export function makeContext(options: DoctorSettings): DoctorContext {
  const env = options.env ?? process.env;
  const environment = environmentOf(env);
  const configured = isConfigurationError(environment) ? undefined : environment;
  const deployment = options.deployment ?? configured?.deployment;
  const credentials = options.credentials ?? configured?.credentials;
  const { fetch, timeoutMs, signal, now } = options;
  const answers = new Map<BaseUrlName, Promise<TimedAnswer>>();
  const ask = async (base: string): Promise<TimedAnswer> => {
    const headers = { accept: 'application/json' };
    const answer = await postRequest(
      { url: new URL(base).href, method: 'GET', headers },
      { fetch, timeoutMs, signal },
    );
    return { answer, at: now() };
  };
  return {
    ...options,
    env,
    environment,
    deployment,
    credentials,
    versions: globalThis.process?.versions ?? {},
    ca: undefined,
    secrets: [
      ...(credentials === undefined ? [] : secretKeysOf(credentials)),
      ...[configured?.apiKey, configured?.masterKey].filter((key) => key !== undefined),
    ],
    answerOf(name) {
      const base = deployment?.[name];
      if (base === undefined) return undefined;
      const asked = answers.get(name) ?? ask(base);
      answers.set(name, asked);
      return asked;
    },
    async addressesOf(hostname) {
      const lookup = options.lookup ?? systemLookup();
      if (lookup === undefined) return { failure: 'this runtime has no node:dns' };
      try {
        return await withDeadline({ ms: timeoutMs, signal }, () => lookup(hostname));
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof DeadlineError) return { failure: `no answer within ${timeoutMs} ms` };
        return { failure: codeOf(error) || 'it failed' };
      }
    },
  };
}

function environmentOf(env: object): Environment<unknown> | ConfigurationError {
  try {
    return readEnvironment<unknown>(env, {});
  } catch (error) {
    if (isConfigurationError(error)) return error;
    throw error;
  }
}

function systemLookup(): ((hostname: string) => Promise<readonly string[]>) | undefined {
  // Not imported, since the entry also loads on runtimes without it.
  const dns = process.getBuiltinModule?.('node:dns');
  if (dns === undefined) return undefined;
  return async (hostname) => {
    const found = await dns.promises.lookup(hostname, { all: true });
    return found.map(({ address }) => address);
  };
}

/**
 * - `ok`: correct.
 * - `warn`: it works, but look at it.
 * - `fail`: it will not work, or is not safe.
 * - `skip`: unknown; `found` says why.
 */
export type DoctorStatus = 'ok' | 'warn' | 'fail' | 'skip';

/** The result of one check. */
export interface DoctorCheck {
  /** Stable between versions: `runtime`, `onboarding-tls`. */
  readonly id: string;
  /** Whether it is correct. */
  readonly status: DoctorStatus;
  /** The finding, without secrets. */
  readonly found: string;
  /** What to do. */
  readonly fix?: string | undefined;
  /** The ids of the ledger's assumptions on which this depends. */
  readonly assumptions: readonly string[];
}
