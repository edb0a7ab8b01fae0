import { type Environment, readEnvironment } from '../../config/read-environment.ts';
import { defineCredentials, secretKeysOf } from '../../credentials/define-credentials.ts';
import { isKeyRing, type KeyRing, loadedKeys } from '../../credentials/key-ring.ts';
import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import { type Deployment, requireDeployment } from '../../deployment/define-deployment.ts';
import type { BaseUrlName } from '../../deployment/operations.ts';
import { type ConfigurationError, isConfigurationError } from '../../errors/errors.ts';
import { libraryWords, type Words } from '../../errors/remedies.ts';
import { DeadlineError, withDeadline } from '../../internal/deadline.ts';
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
} from '../../internal/options.ts';
import { type Answer, postRequest } from '../../internal/post-request.ts';
import { checkHttpUrl } from '../attack/attack-receiver.ts';

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

/** @throws {ConfigurationError} @throws {KeyError} `keys_unavailable` */
export const readDoctorOptions = defineOptions('runDoctor', {
  env: optional(
    value((given) => {
      if (typeof given === 'object' && given !== null) return given;
      throw invalidOption('env must be an object of variables.');
    }),
  ),
  // Sound: requireDeployment and defineCredentials check what they are given.
  deployment: optional(value((given) => requireDeployment(given as Deployment<unknown>))),
  credentials: optional(
    value((given) =>
      isKeyRing(given) ? loadedKeys(given).signing : defineCredentials(given as PartnerCredentials),
    ),
  ),
  callbackUrl: optional(value((given, name) => checkHttpUrl(name, given))),
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
  projectFolder: optional(
    value((given, name) => {
      if (typeof given === 'string') return given;
      throw invalidOption(`${name} must be a path.`);
    }),
  ),
  fetch: callback<typeof fetch>({ default: (...given) => fetch(...given) }),
  lookup: optional(callback<NonNullable<DoctorOptions['lookup']>>()),
  now: callback({ default: () => Date.now() }),
  timeoutMs: timerMs({ default: 5000 }),
  signal: abortSignal(),
  strict: flag({ default: false }),
  onCheck: callback<NonNullable<DoctorOptions['onCheck']>>({ default: () => {} }),
} satisfies OptionTable<DoctorOptions>);

type DoctorSettings = ReturnType<typeof readDoctorOptions>;

function isBody(item: unknown): boolean {
  return typeof item === 'string' || ArrayBuffer.isView(item);
}

function checkPaths(given: unknown, name: string): readonly string[] {
  if (Array.isArray(given) && given.every((path) => typeof path === 'string' && path !== '')) return given;
  throw invalidOption(`${name} must be a list of paths.`);
}

/** What the checks work with. */
export interface DoctorContext extends DoctorSettings {
  /** The words of what is found and of the fixes. */
  readonly say: Words;
  readonly env: object;
  /** What the environment gives, or why it cannot be read. */
  readonly environment: Environment<unknown> | ConfigurationError;
  /** Of the machine and the runtime, so that tests can have others. */
  readonly versions: Readonly<Record<string, string | undefined>>;
  /** Further certificate authorities to trust, as PEM. */
  readonly ca: string | undefined;
  /** Every secret that no check may show. */
  readonly secrets: readonly string[];
  /** The answer of a base URL to GET, and when it came. Asked once. @returns `undefined` for a URL that is not set */
  answerOf(name: BaseUrlName): Promise<TimedAnswer> | undefined;
  /** The addresses of a host, or why they are not known. */
  addressesOf(hostname: string): Promise<readonly string[] | { readonly failure: string }>;
}

interface TimedAnswer {
  readonly answer: Answer;
  /** Milliseconds since 1970 when it came. */
  readonly at: number;
}

export function makeContext(options: DoctorSettings, say: Words = libraryWords): DoctorContext {
  const env = options.env ?? process.env;
  const environment = environmentOf(env);
  const given = isConfigurationError(environment) ? undefined : environment;
  const deployment = options.deployment ?? given?.deployment;
  const credentials = options.credentials ?? given?.credentials;
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
    say,
    env,
    environment,
    deployment,
    credentials,
    versions: globalThis.process?.versions ?? {},
    ca: undefined,
    secrets: [
      ...(credentials === undefined ? [] : secretKeysOf(credentials)),
      ...[given?.apiKey, given?.masterKey].filter((key) => key !== undefined),
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
        return { failure: error instanceof Error && 'code' in error ? String(error.code) : 'it failed' };
      }
    },
  };
}

/** The deployment's scheme is set only once the environment can be read. */
function environmentOf(env: object): Environment<unknown> | ConfigurationError {
  try {
    return readEnvironment<unknown>(env, {});
  } catch (error) {
    if (isConfigurationError(error)) return error;
    throw error;
  }
}

function systemLookup(): ((hostname: string) => Promise<readonly string[]>) | undefined {
  // Looked up when needed, not imported: the entry also loads where there is none.
  const dns = process.getBuiltinModule?.('node:dns');
  if (dns === undefined) return undefined;
  return async (hostname) => {
    const found = await dns.promises.lookup(hostname, { all: true });
    return found.map(({ address }) => address);
  };
}

/**
 * - `ok`: as it should be.
 * - `warn`: it works, but something should be looked at.
 * - `fail`: something will not work, or is not safe.
 * - `skip`: nothing is known; `found` says why.
 */
export type DoctorStatus = 'ok' | 'warn' | 'fail' | 'skip';

/** One check of {@link runDoctor}. */
export interface DoctorCheck {
  /** Stays the same between versions: `runtime`, `onboarding-tls`. */
  readonly id: string;
  readonly status: DoctorStatus;
  /** What was found. Holds no secret. */
  readonly found: string;
  /** What to do about it. */
  readonly fix?: string | undefined;
  /** Ids of the assumptions (see the ledger) that this depends on. */
  readonly assumptions: readonly string[];
}
