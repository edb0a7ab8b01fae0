import { orderEventNames } from '../../../../events/event-names.ts';
import type { CaseTable } from '../attack-case.ts';
import { worstOf } from '../case-result.ts';
import { secondEffectCauses, unsignedCauses } from '../causes.ts';
import { effects } from '../effects.ts';
import { deliverAsService, judgeAcceptance, judgeRefusal, takesAuthentic } from '../judge.ts';
import { withSignature } from '../probes.ts';

/** A forged close has a case of its own. */
const openEvents = orderEventNames.filter((name) => name !== 'buy.event.close');
const locksOrder = 'locks an order after some forgeries that name it: genuine events of it are lost then';

/** Genuine deliveries beside forgeries and other events, and what was done about each. */
export const handlingCases = {
  'forged-first': {
    what: 'two forgeries of a delivery, then the genuine one',
    expected: '4xx to the forgeries, 2xx to the genuine one',
    causes: ['remembers-forgeries', ...secondEffectCauses],
    advice:
      'Verify before you look an id up or remember it: otherwise a forgery makes the genuine event a repetition, which is not handled.',
    async run(attack) {
      const { post, probes } = attack;
      const text = probes.text();
      const forgery = probes.forged(text);
      const first = judgeRefusal(await post({ body: forgery }));
      if (first.verdict !== 'ok') return first;
      const second = judgeRefusal(await post({ body: forgery }));
      return worstOf([first, second, judgeAcceptance(await deliverAsService(attack, probes.signed(text)))]);
    },
  },
  'forged-often': {
    what: 'twelve forgeries of several events of an order, not of its close, then a genuine event of it',
    expected: '4xx to the forgeries, 2xx to the genuine one, and its effect',
    causes: ['accepts-unsigned', 'forged-other-events', 'remembers-forgeries', ...secondEffectCauses],
    faults: { dropped: locksOrder },
    advice:
      'Count failures by sender or not at all, never by order: anybody can write the id of an order into a forgery.',
    async run(attack) {
      const { probes, post } = attack;
      const order = probes.newOrder();
      const { partner_order_id } = order;
      for (let count = 0; count < 12; count++) {
        const event_name = openEvents[count % openEvents.length];
        const text = probes.unsigned({ partner_order_id, event_name, note: count });
        const result = judgeRefusal(await post({ body: probes.forged(text) }));
        if (result.verdict !== 'ok') return result;
      }
      const result = judgeAcceptance(await deliverAsService(attack, probes.authentic(order)));
      // Events of other orders must be accepted: otherwise the receiver limits or bans.
      const isLocked = result.problem === 'lost' && (await takesAuthentic(attack));
      return isLocked ? { ...result, fault: locksOrder } : result;
    },
  },
  // No forged close of an order that exists: a receiver that takes it would end that order.
  'handled-after-forged-close': effects({
    what: 'a forged and an unsigned close of an order, then a genuine event of it',
    expected: '2xx to the genuine one, and its effect',
    causes: ['unsigned-other-events', 'forged-other-events', ...unsignedCauses, ...secondEffectCauses],
    faults: { dropped: 'lets a forged close end an order: what is genuine about it is lost then' },
    advice: 'Verify before you change the state of an order: anybody can send a close.',
    async run(attack) {
      const { probes, post } = attack;
      const order = probes.newOrder();
      const close = probes.unsigned({
        partner_order_id: order.partner_order_id,
        event_name: 'buy.event.close',
      });
      // Whether these are refused is the question of other cases.
      for (const body of [probes.forged(close), close]) await post({ body });
      return judgeAcceptance(await deliverAsService(attack, probes.authentic(order)));
    },
  }),
  'acted-before-verification': effects(
    {
      what: 'whether anything was done about unsigned, forged and altered deliveries',
      expected: 'nothing done',
      causes: ['fails-open', 'accepts-unsigned', 'accepts-cut-signature'],
      advice: 'Verify before anything is written, queued or called.',
      async run({ probes, post }) {
        const { unsigned, forged, signed, authentic } = probes;
        const altered = signed(unsigned()).replace('":10,', '":70,');
        for (const body of [unsigned(), forged(), withSignature(unsigned(), ''), altered])
          await post({ body });
        // Once its effect shows, a worker has seen the others, too.
        await post({ body: authentic() });
        // The records of their orders are compared with those of all others.
        return { verdict: 'ok', answered: 'nothing done' };
      },
    },
    'anyOrder',
  ),
} satisfies CaseTable;
