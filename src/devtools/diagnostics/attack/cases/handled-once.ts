import { orderEventNames } from '../../../../events/event-names.ts';
import { isAccepted, type PostAnswer } from '../../post-request.ts';
import type { Attack, CaseTable } from '../attack-case.ts';
import { type CaseResult, skipped, worstOf } from '../case-result.ts';
import { secondEffectCauses, unsignedCauses } from '../causes.ts';
import { oneOfEach } from '../effect-records.ts';
import { effects, effectsOf, noEffects } from '../effects.ts';
import { deliverAsService, judgeAcceptance, judgeRefusal, takesAuthentic } from '../judge.ts';
import { orderIdOf, type Probes, withSignature } from '../probes.ts';

const verifyBeforeAll =
  'Verify before you look an id up or remember it: otherwise a forgery makes the genuine event a repetition, which is not handled.';
const remembersForgery = {
  fault: 'remembers a delivery before it verifies it: a forgery makes the genuine event a repetition',
  advice: verifyBeforeAll,
};

/** A forged close has a case of its own. */
const openEvents = orderEventNames.filter((name) => name !== 'buy.event.close');
const locksOrder = {
  fault: 'locks an order after some forgeries that name it: genuine events of it are lost then',
  advice:
    'Count failures by sender or not at all, never by order: anybody can write the id of an order into a forgery.',
};

/** Genuine deliveries beside forgeries and other events, and what was done about each. */
export const handlingCases = {
  'forged-first': {
    what: 'two forgeries of a delivery, then the genuine one',
    expected: '4xx to the forgeries, 2xx to the genuine one',
    causes: ['remembers-forgeries', ...secondEffectCauses],
    async run(attack) {
      const { post } = attack;
      const { forgery, genuine } = forgedAndGenuine(attack.probes);
      const first = judgeRefusal(await post({ body: forgery }), { advice: verifyBeforeAll });
      if (first.verdict !== 'ok') return first;
      const second = judgeRefusal(await post({ body: forgery }), remembersForgery);
      const last = judgeAcceptance(await deliverAsService(attack, genuine), verifyBeforeAll);
      const isRefused = last.problem === 'lost';
      return worstOf([first, second, isRefused ? { ...last, fault: remembersForgery.fault } : last]);
    },
  },
  'forged-often': {
    what: 'twelve forgeries of several events of an order, not of its close, then a genuine event of it',
    expected: '4xx to the forgeries, 2xx to the genuine one, and its effect',
    causes: ['accepts-unsigned', 'forged-other-events', 'remembers-forgeries', ...secondEffectCauses],
    faults: { dropped: locksOrder },
    async run(attack) {
      const { probes, post } = attack;
      const order = probes.newOrder();
      const { partner_order_id } = order;
      for (let count = 0; count < 12; count++) {
        const event_name = openEvents[count % openEvents.length];
        const text = probes.unsigned({ partner_order_id, event_name, note: count });
        const result = judgeRefusal(await post({ body: probes.forged(text) }), { advice: verifyBeforeAll });
        if (result.verdict !== 'ok') return result;
      }
      const answer = await deliverAsService(attack, probes.authentic(order));
      const result = judgeAcceptance(answer, locksOrder.advice);
      // Events of other orders must be accepted: otherwise the receiver limits or bans.
      const isLocked = result.problem === 'lost' && (await takesAuthentic(attack));
      return isLocked ? { ...result, fault: locksOrder.fault } : result;
    },
  },
  'handled-after-forgeries': effects({
    what: 'whether a genuine delivery was handled after forgeries of it',
    expected: 'handled',
    causes: ['forged-other-events', 'remembers-forgeries', ...secondEffectCauses],
    async run(attack) {
      const { forgery, genuine } = forgedAndGenuine(attack.probes);
      return await judgeHandled(attack, { forgeries: [forgery, forgery], genuine, ifNot: remembersForgery });
    },
  }),
  'handled-after-forged-close': effects({
    what: 'whether a genuine delivery was handled after a forged and an unsigned close of its order',
    expected: 'handled',
    causes: ['unsigned-other-events', 'forged-other-events', ...unsignedCauses, ...secondEffectCauses],
    async run(attack) {
      const { probes } = attack;
      const genuine = probes.authentic();
      const close = { partner_order_id: orderIdOf(genuine), event_name: 'buy.event.close' };
      const forgeries = [probes.forged(probes.unsigned(close)), probes.unsigned(close)];
      const ifNot = {
        fault: 'lets a forged close end an order: what is genuine about it is lost then',
        advice: 'Verify before you change the state of an order: anybody can send a close.',
      };
      return await judgeHandled(attack, { forgeries, genuine, ifNot });
    },
  }),
  'handled-next-event': effects({
    what: 'whether the second event of an order was handled too',
    expected: 'handled, after another event of the order',
    async run(attack) {
      const { probes, handles } = attack;
      const first = probes.authentic({ event_name: 'event.buy.init' });
      const partner_order_id = orderIdOf(first);
      const event_name = handles.find((name) => name !== 'event.buy.init');
      if (event_name === undefined) return skipped('your code acts on the first event of an order alone');
      await deliverAsService(attack, first);
      const before = await effectsOf(attack, [partner_order_id]);
      await deliverAsService(attack, probes.authentic({ partner_order_id, event_name }));
      const [ofFirst = 0] = before ?? [];
      const after = await effectsOf(attack, [partner_order_id], new Map([[partner_order_id, ofFirst + 1]]));
      if (before === undefined || after === undefined) return skipped(noEffects);
      const [ofBoth = 0] = after;
      const answered = `handled ${ofFirst}, then ${ofBoth} times`;
      if (ofBoth > ofFirst) return { verdict: 'ok', answered };
      return {
        verdict: 'broken',
        answered,
        problem: 'dropped',
        fault: 'has one effect for two events of one order',
        advice:
          'Recognise a repetition by its order and its event, not by its order alone: each order has several events.',
      };
    },
  }),
  'acted-before-verification': effects(
    {
      what: 'whether anything was done about unsigned, forged and altered deliveries',
      expected: 'nothing done',
      causes: ['fails-open', 'accepts-unsigned', 'accepts-cut-signature'],
      async run(attack) {
        const { unsigned, forged, signed } = attack.probes;
        const altered = signed(unsigned()).replace('":10,', '":70,');
        const bodies = [unsigned(), forged(), withSignature(unsigned(), ''), altered];
        const answers: PostAnswer[] = [];
        for (const body of bodies) answers.push(await attack.post({ body }));
        const counts = await effectsOf(attack, bodies.map(orderIdOf));
        if (counts === undefined) return skipped(noEffects);
        if (counts.every((count) => count === 0)) return { verdict: 'ok', answered: 'nothing done' };
        const isRefusedToo = answers.some((answer, index) => !isAccepted(answer) && counts[index] !== 0);
        return {
          verdict: 'broken',
          answered: 'handled',
          ...(isRefusedToo
            ? { problem: 'acted', fault: 'acts before it verifies' }
            : { problem: 'accepted', fault: 'acts on forgeries' }),
          advice:
            'Verify before anything is written, queued or called. A forged delivery was acted on, whatever was answered.',
        };
      },
    },
    'anyOrder',
  ),
} satisfies CaseTable;

interface Handled {
  readonly forgeries: readonly string[];
  readonly genuine: string;
  readonly ifNot: Pick<CaseResult, 'fault' | 'advice'>;
}

async function judgeHandled(attack: Attack, { forgeries, genuine, ifNot }: Handled): Promise<CaseResult> {
  for (const body of forgeries) await attack.post({ body });
  await deliverAsService(attack, genuine);
  const ids = [orderIdOf(genuine)];
  const counts = await effectsOf(attack, ids, oneOfEach(ids));
  if (counts === undefined) return skipped(noEffects);
  if (counts[0] !== 0) return { verdict: 'ok', answered: 'handled' };
  return { verdict: 'broken', answered: 'not handled', ...ifNot };
}

function forgedAndGenuine(probes: Probes) {
  const text = probes.text();
  return { forgery: probes.forged(text), genuine: probes.signed(text) };
}
