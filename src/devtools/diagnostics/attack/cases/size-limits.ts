import type { CaseTable } from '../attack-case.ts';
import type { CaseResult } from '../case-result.ts';
import { takesAuthentic } from '../judge.ts';

/** Runs after all others: it may end with a ban. */
export const limitCases = {
  'refuses-when-limited': {
    what: 'whether authentic deliveries are still accepted after many forgeries',
    expected: '2xx, or 429 or 503 for a while',
    looks: 2,
    async run(attack): Promise<CaseResult> {
      const { probes, post, pause, limits } = attack;
      for (let forged = 0; forged < 60 && limits.banned() === undefined; forged++)
        await post({ body: probes.forged() });
      if (limits.banned() === undefined && !(await takesAuthentic(attack))) {
        await pause(1200);
        limits.ban((await takesAuthentic(attack)) ? 'for a while' : 'for good');
      }
      const banned = limits.banned();
      if (banned === undefined) return { verdict: 'ok', answered: '2xx' };
      return {
        verdict: banned === 'for good' ? 'broken' : 'weak',
        answered: `refused ${banned}`,
        fault: `refuses authentic deliveries ${banned} after many forgeries or deliveries: it limits or bans by address`,
        advice:
          'Answer 429 or 503 with Retry-After where you limit, and limit only what does not verify: behind a proxy all senders have one address, so a stranger could keep the service out.',
      };
    },
  },
} satisfies CaseTable;
