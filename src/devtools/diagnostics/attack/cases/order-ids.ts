import { isAccepted } from '../../post-request.ts';
import type { AttackCase, CaseTable } from '../attack-case.ts';
import { oneOfEach } from '../effect-records.ts';
import { effects } from '../effects.ts';
import { deliverAsService } from '../judge.ts';

/** Two orders whose ids look alike. Only the first has had an event when the records are read. */
export const orderIdCases = {
  'order-id-case': alike({
    what: 'the case of a letter',
    ids: (id) => [`${id}-a`, `${id}-A`],
    fault: 'takes two orders for one whose ids differ only in case',
    advice:
      'Compare order ids by their bytes: a column with a binary or case-sensitive collation (COLLATE "C", utf8mb4_bin).',
  }),
  'order-id-hyphens': alike({
    what: 'their hyphens',
    ids: (id) => [`${id}-1-1`, `${id}-11`],
    fault: 'takes two orders for one whose ids differ only in hyphens',
    advice: 'Compare order ids as they are, and remove no character from them.',
  }),
  'order-id-length': alike({
    what: 'the last of 36 characters',
    ids: (id) => [`${id}-`.padEnd(35, '0'), `${id}-`.padEnd(35, '0')].map((start, at) => `${start}${at + 1}`),
    fault: 'cuts order ids: it takes two orders for one whose ids differ at their end',
    advice:
      'Keep order ids whole, in a column of any length (text), and refuse an order whose id does not fit.',
  }),
} satisfies CaseTable;

interface Alike {
  readonly what: string;
  /** Two ids, made of one. */
  readonly ids: (id: string) => readonly string[];
  readonly fault: string;
  readonly advice: string;
}

function alike({ what, ids, fault, advice }: Alike): AttackCase {
  return effects({
    what: `authentic deliveries of two orders whose ids differ only in ${what}`,
    expected: 'an effect of each, or a refusal',
    causes: ['order-id-length'],
    faults: { dropped: fault },
    advice,
    async run(attack) {
      const { probes, handled } = attack;
      const [first = '', second = ''] = ids(probes.newId());
      const deliver = async (id: string) => {
        const answer = await deliverAsService(attack, probes.authentic({ partner_order_id: id }));
        const counts = await handled?.awaited(isAccepted(answer) ? oneOfEach([id]) : new Map());
        return { isTaken: isAccepted(answer), count: counts?.get(id) ?? 0 };
      };
      const one = await deliver(first);
      // Refused, or kept where the count does not see it: other cases judge that.
      if (!one.isTaken || one.count === 0) return { verdict: 'ok', answered: 'such ids are not handled' };
      const early = (await handled?.counts([second]))?.get(second) ?? 0;
      const other = await deliver(second);
      if (early === 0 && (!other.isTaken || other.count > 0))
        return { verdict: 'ok', answered: 'handled each' };
      const answered = early > 0 ? 'an effect of one counts for both' : 'handled the first of the two alone';
      return { verdict: 'broken', answered, problem: 'dropped' };
    },
  });
}
