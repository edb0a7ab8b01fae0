import { describePostAnswer, isAccepted, type PostAnswer } from '../../../internal/post-request.ts';
import { type CheckResult, skipped, worstOf } from '../../check-result.ts';
import { type CaseTable, judgeAcceptance, judgeRefusal } from '../attack-case.ts';
import { effects, effectsOf, noEffects } from '../effects.ts';
import { orderIdOf, type Probes, withSignature } from '../probes.ts';

const acknowledgeAgain =
  'Answer 2xx to a repetition, without handling it: a sender whose delivery is refused sends it again.';

/** The same delivery several times, and how often the receiver's code acted. */
export const repetitionCases = {
  repeated: {
    what: 'an authentic delivery twice, one after the other',
    expected: '2xx both times',
    async run({ probes, post }) {
      const body = probes.authentic();
      const first = judgeAcceptance(await post({ body }), acknowledgeAgain);
      return worstOf([first, judgeRepetition(await post({ body }))]);
    },
  },
  'repeated-at-once': {
    what: 'an authentic delivery eight times at once',
    expected: '2xx, or 503 while another one is being handled',
    async run({ probes, post }) {
      const body = probes.authentic();
      return judgeAtOnce(await Promise.all(Array.from({ length: 8 }, () => post({ body }))));
    },
  },
  replayed: {
    what: 'the first delivery of this attack again, after many others',
    expected: '2xx or 4xx',
    async run({ baseline, post }) {
      return judgeRepetition(await post({ body: baseline }));
    },
  },
  'forged-first': {
    what: 'two forgeries of a delivery, then the genuine one',
    expected: '4xx to the forgeries, 2xx to the genuine one',
    async run({ probes, post }) {
      const { forgery, genuine } = forgedAndGenuine(probes);
      const first = judgeRefusal(await post({ body: forgery }), { advice: verifyBeforeAll });
      if (first.verdict !== 'ok') return first;
      const second = judgeRefusal(await post({ body: forgery }), remembersForgery);
      const last = judgeAcceptance(await post({ body: genuine }), verifyBeforeAll);
      const isRefused = last.problem === 'lost';
      return worstOf([first, second, isRefused ? { ...last, fault: remembersForgery.fault } : last]);
    },
  },
  'handled-after-forgeries': effects({
    what: 'whether a genuine delivery was handled after two forgeries of it',
    expected: 'handled',
    async run(attack) {
      const { forgery, genuine } = forgedAndGenuine(attack.probes);
      for (const body of [forgery, forgery, genuine]) await attack.post({ body });
      const counts = await effectsOf(attack, [orderIdOf(genuine)]);
      if (counts === undefined) return skipped(noEffects);
      if (counts[0] !== 0) return { verdict: 'ok', answered: 'handled' };
      return { verdict: 'broken', answered: 'not handled', ...remembersForgery };
    },
  }),
  'handled-next-event': effects({
    what: 'whether the second event of an order was handled too',
    expected: 'handled once for each event',
    async run(attack) {
      const { probes, post } = attack;
      const first = probes.authentic();
      const partner_order_id = orderIdOf(first);
      const next = { event_name: 'event.buy.received.fiat', fiat_payment_status: 'PAID' };
      await post({ body: first });
      const before = await effectsOf(attack, [partner_order_id]);
      await post({
        body: probes.authentic({ partner_order_id, ...next, crypto_payment_status: 'STARTED' }),
      });
      const after = await effectsOf(attack, [partner_order_id]);
      if (!before?.[0] || !after?.[0]) return skipped(noEffects);
      const answered = `handled ${before[0]}, then ${after[0]} times`;
      if (after[0] > before[0]) return { verdict: 'ok', answered };
      return {
        verdict: 'weak',
        answered,
        fault: 'has one effect for two events of one order',
        advice:
          'Recognise a repetition by a digest of the delivery, not by its order id: each order has several events. If your records count orders and not events, leave this case out.',
      };
    },
  }),
  'handled-once': effects({
    what: 'whether deliveries that came once, twice, twice at the same time, and again later were handled once each',
    expected: 'handled once each',
    async run(attack) {
      const { probes, post, baseline } = attack;
      const [single, twice, atOnce] = [probes.authentic(), probes.authentic(), probes.authentic()];
      await post({ body: single });
      await post({ body: twice });
      await post({ body: twice });
      await Promise.all([post({ body: atOnce }), post({ body: atOnce })]);
      const counts = await effectsOf(attack, [single, twice, atOnce, baseline].map(orderIdOf));
      if (counts === undefined) return skipped(noEffects);
      const [ofSingle = 0, ofTwice = 0, ofAtOnce = 0, ofBaseline = 0] = counts;
      const again = (count: number, fault: string, advice: string): CheckResult => {
        return { verdict: 'broken', answered: `handled ${count} times`, fault, advice };
      };
      if (ofSingle > 1) return again(ofSingle, 'acts more than once on one delivery', actOnce);
      if (ofTwice > 1) return again(ofTwice, 'acts again on a repeated delivery', rememberHandled);
      if (ofAtOnce > 1) return again(ofAtOnce, 'acts twice on equal deliveries at the same time', oneStep);
      if (ofBaseline > 1) return again(ofBaseline, 'acts again on a delivery that is older', rememberLonger);
      return { verdict: 'ok', answered: 'handled once each' };
    },
  }),
  'acted-before-verification': effects({
    what: 'whether anything was done about unsigned, forged and altered deliveries',
    expected: 'nothing done',
    async run(attack) {
      const { unsigned, forged, authentic } = attack.probes;
      const bodies = [
        unsigned(),
        forged(),
        withSignature(unsigned(), ''),
        authentic().replace('":10,', '":70,'),
      ];
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
          ? { fault: 'acts before it verifies' }
          : { problem: 'accepted', fault: 'acts on forgeries' }),
        advice:
          'Verify before anything is written, queued or called. A forged delivery was acted on, whatever was answered.',
      };
    },
  }),
} satisfies CaseTable;

const verifyBeforeAll =
  'Verify before you look an id up or remember it: otherwise a forgery makes the genuine event a repetition, which is not handled.';
const remembersForgery = {
  fault: 'remembers a delivery before it verifies it: a forgery makes the genuine event a repetition',
  advice: verifyBeforeAll,
};
const actOnce = 'Act in one place, once for each delivery.';
const rememberHandled =
  'Remember what was handled and look it up first: senders repeat a delivery whose answer got lost.';
const oneStep =
  'Look up and remember in one step (a unique column): between two steps a repetition gets through.';
const rememberLonger =
  'Remember more than the last deliveries: a sender can repeat one after many others, and an event has no time stamp.';
function forgedAndGenuine({ unsigned, forged, sign }: Probes) {
  const text = unsigned();
  return { forgery: forged(text), genuine: withSignature(text, sign(text)) };
}
/** A repetition may be refused, but need not be: 409 says the same as 200 to some senders, and not to others. */
function judgeRepetition(answer: PostAnswer): CheckResult {
  const finding = judgeRefusal(answer, { ifAccepted: 'ok', advice: '' });
  if (isAccepted(answer) || finding.verdict !== 'ok') return finding;
  return { ...finding, verdict: 'weak', advice: acknowledgeAgain, fault: 'refuses a repetition' };
}

function judgeAtOnce(answers: readonly PostAnswer[]): CheckResult {
  const answered = [...new Set(answers.map(describePostAnswer))].join(', ');
  const isBusy = (answer: PostAnswer) =>
    answer.kind === 'answered' && [409, 425, 429, 503].includes(answer.status);
  if (!answers.some(isAccepted)) {
    const advice =
      'One of several equal deliveries at the same time must be accepted: here they lost against each other.';
    return { verdict: 'broken', answered, advice, fault: 'accepts none of several equal deliveries at once' };
  }
  if (answers.every((answer) => isAccepted(answer) || isBusy(answer))) return { verdict: 'ok', answered };
  const advice =
    'Equal deliveries at the same time got in each other’s way. Answer 2xx to the ones that came second, or 503 with Retry-After while the first is being handled.';
  const verdict = answers.some(({ kind }) => kind !== 'answered') ? 'broken' : 'weak';
  return { verdict, answered, advice, fault: 'refuses one of several equal deliveries at once' };
}
