import { randomBytes } from 'node:crypto';
import { type ConfigurationError, isConfigurationError, whatFailed } from '../../../../errors/errors.ts';
import type { Attack } from '../../attack/attack-case.ts';
import { readAttackOptions } from '../../attack/attack-options.ts';
import { attackCases, baselineCase, type CaseId, type NamedCase } from '../../attack/case-table.ts';
import { prepareAttack } from '../../attack/prepare-attack.ts';
import { type CheckResult, skipped, worstOf } from '../../check-result.ts';
import { describePostAnswer, type PostAnswer } from '../../post-request.ts';
import { type Check, fail, notConnected, ok } from '../check.ts';
import type { DoctorContext } from '../doctor-context.ts';

/** A sound receiver does not act on these. */
const harmless: readonly CaseId[] = ['unsigned', 'forged', 'method-get', 'method-head'];

export const callbackReceiver: Check = {
  id: 'callback-receiver',
  async run(context) {
    const { callbackUrl, sendAuthentic, credentials } = context;
    if (callbackUrl === undefined) return skipped('callbackUrl is not given.');
    if (sendAuthentic && credentials === undefined) {
      return skipped('An authentic event cannot be signed without keys.');
    }
    const attack = prepare(callbackUrl, context);
    if (isConfigurationError(attack)) return skipped(whatFailed(attack));
    const answers: PostAnswer[] = [];
    const post: Attack['post'] = async (delivery) => {
      const answer = await attack.send(delivery);
      answers.push(answer);
      return answer;
    };
    const results: CheckResult[] = [];
    for (const probe of harmlessCases(sendAuthentic)) {
      results.push(describeResult(probe, await probe.run({ ...attack, post })));
      const missing = answers.find(({ kind }) => kind !== 'answered');
      if (missing !== undefined) {
        const found = `${callbackUrl.host}: ${describePostAnswer(missing)}.`;
        const reason = missing.kind === 'closed' ? missing.reason : '';
        const fix = 'Is the receiver running, and can this machine reach it?';
        return notConnected(context, { reason, found, fix });
      }
    }
    if (answers.every((answer) => answer.kind === 'answered' && answer.status === 404)) {
      return fail('Everything is answered with 404.', 'Is this the path at which the receiver is mounted?');
    }
    return worstOf(results);
  },
};

function harmlessCases(sendAuthentic: boolean): readonly NamedCase[] {
  const probes = attackCases.filter(({ id }) => harmless.includes(id));
  return sendAuthentic ? [...probes, baselineCase] : probes;
}

function prepare(url: URL, context: DoctorContext): Attack | ConfigurationError {
  const { deployment, fetch, timeoutMs, signal } = context;
  try {
    const settings = readAttackOptions({
      // Without keys no authentic delivery is possible, and any key forges equally well.
      credentials: context.credentials ?? throwAwayCredentials(),
      deployment,
      fetch,
      timeoutMs,
      signal,
      // The user named the callback, and it gets only harmless requests.
      iOwnThisHost: url.host,
    });
    return prepareAttack(url, settings).attack;
  } catch (error) {
    if (isConfigurationError(error)) return error;
    throw error;
  }
}

function describeResult({ id, what }: NamedCase, result: CheckResult): CheckResult {
  const { verdict, answered, fault } = result;
  if (verdict === 'ok') return ok(`${id} ${answered}`);
  const reason = fault === undefined ? '' : `, since it ${fault}`;
  return {
    ...result,
    answered: `${what}: ${answered}${reason}`,
    assumptions: verdict === 'broken' ? ['callback-reply'] : [],
  };
}

function throwAwayCredentials() {
  const random = randomBytes(24).toString('hex');
  return {
    partnerPublicKey: `pk_partner_${random}`,
    partnerSecretKey: `sk_partner_${random}`,
    merchantSecretKey: `sk_merchant_${random}`,
  };
}
