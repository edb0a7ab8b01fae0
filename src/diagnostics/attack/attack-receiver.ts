import { secretKeysOf } from '../../credentials/define-credentials.ts';
import { merchantsFor, signingKey } from '../../credentials/signing-key.ts';
import { isLoopbackHost } from '../../deployment/base-url.ts';
import { platformFetch } from '../../deployment/platform-fetch.ts';
import { libraryWords, type Words } from '../../errors/remedies.ts';
import { nearestName } from '../../internal/nearest-name.ts';
import { invalidOption } from '../../internal/options.ts';
import { type PostAnswer, postRequest, unreachableBecause } from '../../internal/post-request.ts';
import { type CheckResult, skipped } from '../check-result.ts';
import type { Attack, AttackResult } from './attack-case.ts';
import {
  type AttackOptions,
  type AttackSettings,
  checkHttpUrl,
  readAttackOptions,
} from './attack-options.ts';
import { attackCases, baselineCase, type NamedCase } from './case-table.ts';
import { watchDisclosures } from './disclosures.ts';
import { type AttackFinding, findCauses, type JudgedCase } from './findings.ts';
import { makeProbes } from './probes.ts';
import { rawConnector } from './raw-connection.ts';

/**
 * Attacks a receiver of order events, written in any language, and judges its answers: to forged, altered, malformed,
 * huge, slow and repeated deliveries, and to authentic ones that are easily lost.
 *
 * Run it against your own receiver with test keys. It sends probes: events about orders whose ids begin with
 * `probe-`, all but two of them unpaid. Your code handles each authentic probe once. The first one must be answered
 * with 2xx; otherwise all other cases are skipped.
 *
 * Without `iOwnThisHost`, it attacks only this machine. Redirects are not followed.
 *
 * @throws {ConfigurationError} before anything is sent: `invalid_option` for a refused URL, host or option, or if
 *   nothing listens at the URL; `invalid_credentials`, `invalid_scheme`
 * @throws {KeyError} `keys_unavailable` for a key ring that has not read its keys
 * @example
 * ```ts
 * const { findings } = await attackReceiver('http://127.0.0.1:3000/orders', { credentials });
 * for (const { verdict, summary, advice } of findings) console.log(verdict, summary, advice);
 * ```
 */
export function attackReceiver(url: string | URL, options: AttackOptions): Promise<AttackReport> {
  return attackInWords(libraryWords, url, options);
}

/** The same, with advice in the caller's words. */
export async function attackInWords(
  say: Words,
  url: string | URL,
  options: AttackOptions,
): Promise<AttackReport> {
  const settings = readAttackOptions(options);
  const { signal, onResult } = settings;
  const { attack, target, lastAnswer, isReachable } = prepareAttack(say, url, settings);
  const cases = chosenCases(settings);
  const results: AttackResult[] = [];
  const judged: JudgedCase[] = [];
  const report = async ({ id, what, expected }: NamedCase, outcome: CheckResult) => {
    const { verdict, answered, advice, problem, fault } = outcome;
    const result = Object.freeze({ id, what, expected, answered, verdict, advice });
    results.push(result);
    judged.push({ ...result, problem, fault });
    await onResult(result);
  };

  const first = await baselineCase.run(attack);
  checkReachable(target, lastAnswer());
  await report(baselineCase, first);
  let obstacle = first.verdict === 'ok' ? undefined : 'the authentic delivery before was not accepted';
  for (const probe of cases) {
    signal?.throwIfAborted();
    if (obstacle !== undefined) {
      await report(probe, skipped(obstacle));
      continue;
    }
    await report(probe, await probe.run(attack));
    if (!(await isReachable())) obstacle = `the receiver does not answer any more since ${probe.id}`;
  }
  return { results, findings: findCauses(judged) };
}

/**
 * Prepares an attack without sending anything.
 *
 * @throws {ConfigurationError} `invalid_option` for a URL that is malformed or not known to be the caller's
 */
export function prepareAttack(say: Words, url: unknown, settings: AttackSettings) {
  const { credentials, deployment, signal, timeoutMs, handled } = settings;
  const target = checkHttpUrl('The URL of the receiver', url);
  checkOwnHost(target, settings.iOwnThisHost);
  const { signature: scheme, wireNames } = deployment;
  const merchant = merchantsFor(credentials, scheme)[0];
  const key = signingKey(credentials, 'order', { merchant, scheme });
  const probes = makeProbes({ scheme, key, wireNames, callbackUrl: target.origin + target.pathname });
  const disclosures = watchDisclosures(probes, [key, ...secretKeysOf(credentials)]);
  // The service sends these (contract: Authentication 2).
  const authorization = `Bearer ${credentials.partnerPublicKey}`;
  const headers = { 'content-type': 'application/json', authorization };
  const hasOwnFetch = settings.fetch !== undefined;
  let last: PostAnswer | undefined;
  const post: Attack['post'] = async (delivery) => {
    const { body, method, headers: own, query } = delivery;
    const request = { url: withQuery(target, query), method, headers: { ...headers, ...own }, body };
    const answer = await postRequest(request, { fetch: settings.fetch ?? platformFetch, timeoutMs, signal });
    disclosures.inspect(delivery, answer);
    last = answer;
    return answer;
  };
  const attack: Attack = {
    credentials,
    probes,
    post,
    raw: rawConnector({ url: target, headers, signal, timeoutMs, hasOwnFetch }),
    handled,
    baseline: probes.authentic(),
    disclosures,
    timeoutMs,
    signal,
    say,
  };
  return {
    attack,
    target,
    lastAnswer: () => last,
    /** Whether the receiver still answers. Asks only if its last answer was missing. */
    async isReachable() {
      if (last === undefined || last.kind === 'answered') return true;
      // Sends an authentic one, because a receiver may close the connection of every forgery.
      const answer = await post({ body: probes.authentic() });
      return answer.kind === 'answered';
    },
  };
}

function withQuery(url: URL, query: string | undefined): string {
  if (query === undefined) return url.href;
  const target = new URL(url);
  target.search = target.search === '' ? query : `${target.search}&${query}`;
  return target.href;
}

/** @throws {ConfigurationError} `invalid_option` if no connection could be made */
function checkReachable({ host }: URL, answer: PostAnswer | undefined): void {
  const problem = answer && unreachableBecause(answer, host);
  if (problem === undefined) return;
  const remedy = 'Start the receiver, or check the URL.';
  throw invalidOption(`${problem}, so nothing was sent.`, remedy);
}

/** @throws {ConfigurationError} `invalid_option` for an unknown id */
function chosenCases({ only, skip }: AttackSettings): readonly NamedCase[] {
  const ids: readonly string[] = attackCases.map(({ id }) => id);
  for (const id of [...(only ?? []), ...skip]) {
    if (ids.includes(id) || id === baselineCase.id) continue;
    const near = nearestName(id, ids);
    throw invalidOption(
      `"${id.slice(0, 64)}" is not the id of a case.${near === undefined ? '' : ` Did you mean "${near}"?`}`,
    );
  }
  return attackCases.filter(({ id }) => (only?.includes(id) ?? true) && !skip.includes(id));
}

/** The results of an attack. */
export interface AttackReport {
  /** Each case, in the order in which they ran. */
  readonly results: readonly AttackResult[];
  /** The faults of the receiver, the worst first: cases with one cause are one finding. */
  readonly findings: readonly AttackFinding[];
}

/**
 * Refuses a host that is neither this machine nor named by its owner. Only its name counts: a name that resolves to
 * this machine today may change tomorrow.
 *
 * @throws {ConfigurationError} `invalid_option`
 */
function checkOwnHost(url: URL, iOwnThisHost: string | undefined): void {
  if (isLoopbackHost(url.hostname)) return;
  const named = iOwnThisHost?.toLowerCase();
  if (named === url.hostname || named === url.host) return;
  if (named !== undefined)
    throw invalidOption(`iOwnThisHost does not name the host of the URL, which is ${url.hostname}.`);
  throw invalidOption(
    `attackReceiver only attacks this machine, and ${url.hostname} is another one.`,
    `If it is yours, name it: iOwnThisHost: '${url.hostname}'.`,
  );
}
