import { secretTexts } from '../../credentials/secret-texts.ts';
import { invalidOption } from '../../options/check-values.ts';
import { nearestName } from '../../options/nearest-name.ts';
import type { Attack, AttackCase } from './attack-case.ts';
import { attackCases } from './attack-cases.ts';
import { type AttackOptions, type ResolvedAttackOptions, resolveAttackOptions } from './attack-options.ts';
import { type AttackResult, type Finding, skipped } from './attack-result.ts';
import { baselineCase } from './cases/baseline.ts';
import { watchDisclosures } from './disclosures.ts';
import { exchange, type Route } from './exchange.ts';
import { makeProbes } from './probes.ts';
import { rawConnector } from './raw-connection.ts';

/**
 * Attacks a receiver of order events, in whatever language it is written, as its worst callers would, and says how it
 * did: forged, altered, malformed, huge, slow and repeated deliveries, and authentic ones that are easily lost.
 *
 * Run it against your own receiver with test keys. It sees probes: events about orders whose ids begin with `probe-`,
 * with nothing paid but for one that says so. The authentic ones among them are accepted by a sound receiver and
 * handled by your code, once each. The attack begins with one that must be answered 2xx: if it is not, nothing else
 * would mean anything, and everything else is skipped.
 *
 * Only this machine is attacked, unless `iOwnThisHost` names the host. Redirects are not followed.
 *
 * @throws {ConfigurationError} before anything is sent: `invalid_option` for a URL, host or option that is refused,
 *   `invalid_credentials`, `invalid_scheme`
 * @throws {KeyError} `keys_unavailable` for a key ring that has not read its keys
 * @example
 * ```ts
 * const { results } = await attackReceiver('http://127.0.0.1:3000/orders', { credentials });
 * for (const { id, verdict, answered, advice } of results) {
 *   if (verdict !== 'ok') console.log(id, verdict, answered, advice);
 * }
 * ```
 */
export async function attackReceiver(
  url: string | URL,
  options: AttackOptions,
): Promise<{ readonly results: readonly AttackResult[] }> {
  const resolved = resolveAttackOptions(url, options);
  const cases = chosenCases(resolved);
  const { attack, isReachable } = prepareAttack(resolved);
  const results: AttackResult[] = [];
  const report = async ({ id, what, expected }: AttackCase, finding: Finding) => {
    const result = Object.freeze({ id, what, expected, ...finding });
    results.push(result);
    await resolved.onResult(result);
  };

  const first = await baselineCase.run(attack);
  await report(baselineCase, first);
  let obstacle = first.verdict === 'ok' ? undefined : 'the authentic delivery before was not accepted';
  for (const each of cases) {
    resolved.signal?.throwIfAborted();
    if (obstacle !== undefined) {
      await report(each, skipped(obstacle));
      continue;
    }
    await report(each, await each.run(attack));
    if (!(await isReachable())) obstacle = `the receiver does not answer any more since ${each.id}`;
  }
  return { results };
}

/** Everything that the cases work with. Nothing is sent yet. */
export function prepareAttack(options: ResolvedAttackOptions): {
  readonly attack: Attack;
  /** Whether the receiver still answers; asks only if its last answer was missing. */
  isReachable(): Promise<boolean>;
} {
  const { url, scheme, key, wireNames, credentials, fetch, hasOwnFetch, signal, timeoutMs } = options;
  const callbackUrl = url.origin + url.pathname;
  const probes = makeProbes({ scheme, key, wireNames, callbackUrl });
  const disclosures = watchDisclosures(probes, [key, ...secretTexts(credentials)]);
  // As the service sends them (contract: Authentication 2).
  const authorization = `Bearer ${credentials.partnerPublicKey}`;
  const headers = { 'content-type': 'application/json', authorization };
  const route: Route = { url, fetch, headers, timeoutMs, signal };
  let isMissing = false;
  const post: Attack['post'] = async (delivery) => {
    const answer = await exchange(route, delivery);
    disclosures.look(delivery, answer);
    isMissing = answer.kind !== 'answered';
    return answer;
  };
  return {
    attack: {
      probes,
      post,
      raw: rawConnector({ url, headers, signal, timeoutMs, hasOwnFetch }),
      handled: options.handled,
      baseline: probes.authentic(),
      disclosures,
      timeoutMs,
      signal,
    },
    async isReachable() {
      if (!isMissing) return true;
      const answer = await post({ body: probes.unsigned() });
      return answer.kind === 'answered';
    },
  };
}

/** @throws {ConfigurationError} `invalid_option` for an id that does not exist */
function chosenCases({ credentials, only, skip }: ResolvedAttackOptions): readonly AttackCase[] {
  const all = attackCases(credentials);
  const ids = all.map(({ id }) => id);
  for (const id of [...(only ?? []), ...skip]) {
    if (ids.includes(id) || id === baselineCase.id) continue;
    const near = nearestName(id, ids);
    throw invalidOption(
      `"${id.slice(0, 64)}" is not the id of a case.${near === undefined ? '' : ` Did you mean "${near}"?`}`,
    );
  }
  return all.filter(({ id }) => (only?.includes(id) ?? true) && !skip.includes(id));
}
