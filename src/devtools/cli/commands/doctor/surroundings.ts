import type { Deployment } from '../../../../deployment/define-deployment.ts';
import type { BaseUrlName } from '../../../../deployment/operations.ts';
import { type Environment, readEnvironment } from '../../../../deployment/read-environment.ts';
import { type ConfigurationError, codeOf, isConfigurationError } from '../../../../errors/errors.ts';
import { DeadlineError, withDeadline } from '../../../../internal/deadline.ts';
import type { Finding } from '../../../diagnostics/finding.ts';
import { type PostAnswer, postRequest, unreachableBecause } from '../../../diagnostics/post-request.ts';
import type { Variables } from '../../terminal/context.ts';

/** A finding of the doctor, before it has its id. */
export type Result = Omit<Finding, 'id'>;

export const ok = (what: string): Result => ({ verdict: 'ok', what });
export const skippedCheck = (what: string): Result => ({ verdict: 'skipped', what });
export const weak = (what: string, advice: string): Result => ({ verdict: 'weak', what, advice });
export const broken = (what: string, advice: string): Result => ({ verdict: 'broken', what, advice });

export interface DoctorOptions {
  readonly env: Variables;
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** All addresses of a host name. @default node:dns */
  readonly lookup?: (hostname: string) => Promise<readonly string[]>;
}

/** What the checks look at. */
export interface Surroundings extends DoctorOptions {
  /** The configuration, or why it cannot be read. */
  readonly environment: Environment<unknown> | ConfigurationError;
  readonly deployment: Deployment<unknown> | undefined;
  /** The answer of a base URL to one GET, with its time; `undefined` without that URL. */
  answerOf(name: BaseUrlName): Promise<{ readonly answer: PostAnswer; readonly at: number }> | undefined;
  /** Sends a request without keys. */
  ask(url: string, method: string, body?: string): Promise<PostAnswer>;
  /** The addresses of a host, or why they are unknown. */
  addressesOf(hostname: string): Promise<readonly string[] | { readonly failure: string }>;
}

export function readSurroundings(options: DoctorOptions): Surroundings {
  const environment = environmentOf(options.env);
  const deployment = isConfigurationError(environment) ? undefined : environment.deployment;
  const { fetch, timeoutMs, signal, now, lookup = systemLookup } = options;
  const answers = new Map<BaseUrlName, Promise<{ answer: PostAnswer; at: number }>>();
  const ask = (url: string, method: string, body?: string) =>
    postRequest({ url, method, headers: { accept: 'application/json' }, body }, { fetch, timeoutMs, signal });
  return {
    ...options,
    environment,
    deployment,
    ask,
    answerOf(name) {
      const base = deployment?.[name];
      if (base === undefined) return undefined;
      const asked =
        answers.get(name) ?? ask(new URL(base).href, 'GET').then((answer) => ({ answer, at: now() }));
      answers.set(name, asked);
      return asked;
    },
    async addressesOf(hostname) {
      try {
        return await withDeadline({ ms: timeoutMs, signal }, () => lookup(hostname));
      } catch (error) {
        signal.throwIfAborted();
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

async function systemLookup(hostname: string): Promise<readonly string[]> {
  const { lookup } = await import('node:dns/promises');
  const addresses = await lookup(hostname, { all: true });
  return addresses.map(({ address }) => address);
}

/** Codes of Node and of Bun for a certificate that is not trusted. */
const untrusted = /CERT|UNABLE_TO_VERIFY/;

/** The result of a request without an answer. */
export function withoutAnswer(answer: Exclude<PostAnswer, { kind: 'answered' }>, host: string): Result {
  const advice = 'Is the address right, and can this machine reach it (network, proxy, firewall)?';
  if (answer.kind === 'late') return broken(`${host} gave no answer in ${answer.afterMs} ms.`, advice);
  if (untrusted.test(answer.reason)) {
    return broken(
      `The certificate of ${host} is not trusted (${answer.reason}).`,
      'Renew it, send its whole chain, or trust its authority with NODE_EXTRA_CA_CERTS; never turn the check off.',
    );
  }
  const what = unreachableBecause(answer, host) ?? `${host} gave no answer (${answer.reason})`;
  return broken(`${what}.`, advice);
}
