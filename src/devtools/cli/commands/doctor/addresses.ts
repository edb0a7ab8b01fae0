import { isLoopbackHost } from '../../../../deployment/base-url.ts';
import type { BaseUrlName } from '../../../../deployment/operations.ts';
import {
  broken,
  ok,
  type Result,
  type Surroundings,
  skippedCheck,
  weak,
  withoutAnswer,
} from './surroundings.ts';

/** Whether a base URL answers, with a certificate that is trusted. */
export async function examineBaseUrl(name: BaseUrlName, surroundings: Surroundings): Promise<Result[]> {
  const base = surroundings.deployment?.[name];
  const asked = surroundings.answerOf(name);
  if (base === undefined || asked === undefined) return [skippedCheck('The address is not set.')];
  const url = new URL(base);
  const { answer } = await asked;
  if (answer.kind !== 'answered') return [withoutAnswer(answer, url.host)];
  const what = `GET is answered with ${answer.status}.`;
  if (answer.status >= 500) return [weak(what, 'The service is failing: ask its operator.')];
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    return [weak(`${url.host} is spoken to in http, which others can read and change.`, 'Use https.')];
  return [ok(what)];
}

/** An answer has whole seconds, and may come from a cache. */
const warnMs = 30_000;
const failMs = 300_000;

/** Compares this machine's clock with the Date of an answer. */
export async function examineClock({ answerOf }: Surroundings): Promise<Result[]> {
  for (const name of ['onboardingBaseUrl', 'stagingUrl', 'messengerBaseUrl'] as const) {
    const { answer, at } = (await answerOf(name)) ?? {};
    const date = answer?.kind === 'answered' ? Date.parse(answer.headers.get('date') ?? '') : Number.NaN;
    if (at === undefined || Number.isNaN(date)) continue;
    const seconds = Math.round(Math.abs(at - date) / 1000);
    const what = `The clock is ${seconds} s ${at < date ? 'behind' : 'ahead of'} that of ${name}.`;
    const advice = 'Set it by NTP: certificates, one-time codes and leases depend on it.';
    if (Math.abs(at - date) >= failMs) return [broken(what, advice)];
    return [Math.abs(at - date) >= warnMs ? weak(what, advice) : ok(what)];
  }
  return [skippedCheck('No address has told the time.')];
}
