import { type Environment, readEnvironment } from '../../config/read-environment.ts';
import { secretTexts } from '../../credentials/secret-texts.ts';
import type { BaseUrlName } from '../../deployment/operations.ts';
import { type ConfigurationError, isConfigurationError } from '../../errors/configuration-error.ts';
import type { Answer } from '../attack/answer.ts';
import { exchange } from '../attack/exchange.ts';
import type { ResolvedDoctorOptions } from './doctor-options.ts';
import { settledOr } from './settled-or.ts';

/** What the checks work with. */
export interface DoctorContext extends ResolvedDoctorOptions {
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

export interface TimedAnswer {
  readonly answer: Answer;
  /** Milliseconds since 1970 when it came. */
  readonly at: number;
}

export function makeContext(options: ResolvedDoctorOptions): DoctorContext {
  const environment = environmentOf(options.env);
  const given = isConfigurationError(environment) ? undefined : environment;
  const deployment = options.deployment ?? given?.deployment;
  const credentials = options.credentials ?? given?.credentials;
  const { fetch, timeoutMs, signal, now } = options;
  const answers = new Map<BaseUrlName, Promise<TimedAnswer>>();
  const ask = async (base: string): Promise<TimedAnswer> => {
    const headers = { accept: 'application/json' };
    const answer = await exchange(
      { url: new URL(base), fetch, headers, timeoutMs, signal },
      { method: 'GET' },
    );
    return { answer, at: now() };
  };
  return {
    ...options,
    environment,
    deployment,
    credentials,
    versions: globalThis.process?.versions ?? {},
    ca: undefined,
    secrets: [
      ...(credentials === undefined ? [] : secretTexts(credentials)),
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
        const addresses = await settledOr(lookup(hostname), timeoutMs, signal);
        return addresses ?? { failure: `no answer within ${timeoutMs} ms` };
      } catch (error) {
        signal?.throwIfAborted();
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
