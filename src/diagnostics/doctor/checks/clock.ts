import type { BaseUrlName } from '../../../deployment/operations.ts';
import { type Examination, fail, ok, skip, warn } from '../examination.ts';

const names: readonly BaseUrlName[] = ['onboardingBaseUrl', 'stagingUrl', 'messengerBaseUrl'];
/** An answer tells whole seconds, and may come from a cache that is a little old. */
const warnMs = 30_000;
const failMs = 300_000;

/** Whether this machine's clock agrees with the Date of an answer of the service. */
export const clock: Examination = {
  id: 'clock',
  async run({ answerOf }) {
    for (const name of names) {
      const asked = answerOf(name);
      if (asked === undefined) continue;
      const { answer, at } = await asked;
      const date = answer.kind === 'answered' ? Date.parse(answer.headers.get('date') ?? '') : Number.NaN;
      if (Number.isNaN(date)) continue;
      return judge(at - date, name);
    }
    return skip('No base URL has told the time.');
  },
};

function judge(aheadMs: number, name: BaseUrlName) {
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const found = `The clock is ${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead of'} that of ${name}.`;
  const fix = 'Set it by NTP: certificates, one-time codes and leases depend on it.';
  if (Math.abs(aheadMs) >= failMs) return fail(found, fix);
  return Math.abs(aheadMs) >= warnMs ? warn(found, fix) : ok(found);
}
