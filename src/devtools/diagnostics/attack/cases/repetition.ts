import { describePostAnswer, isAccepted, type PostAnswer } from '../../post-request.ts';
import type { CaseTable } from '../attack-case.ts';
import { type CaseResult, skipped, worstOf } from '../case-result.ts';
import { deliverAsService, isPostponed, judgeAcceptance, judgeRefusal } from '../judge.ts';

const acknowledgeAgain =
  'Answer 2xx to a repetition, without handling it: a sender whose delivery is refused sends it again.';

/** Cases that send one delivery several times, and count how often the receiver's code acted. */
export const repetitionCases = {
  repeated: {
    what: 'an authentic delivery twice, one after the other',
    expected: '2xx both times, and one effect',
    causes: ['refuses-repetitions'],
    advice:
      'Remember what was handled and look it up first: senders repeat a delivery whose answer got lost.',
    async run(attack) {
      const body = attack.probes.authentic();
      const first = judgeAcceptance(await deliverAsService(attack, body));
      return worstOf([first, judgeRepetition(await attack.post({ body }))]);
    },
  },
  respelled: {
    what: 'an authentic event again in other texts, each with its own valid signature: white space, order of members, escapes in values and names, spelling of numbers',
    expected: '2xx, and one effect',
    causes: ['refuses-repetitions', 're-serialises'],
    advice: 'Know an effect by the order and the event, not by the text, its digest or its signature.',
    async run(attack) {
      const { probes } = attack;
      const text = probes.text();
      const [first = '', ...others] = Object.entries(JSON.parse(text)).map(([name, value]) => {
        return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
      });
      const texts = [
        text,
        JSON.stringify(JSON.parse(text), null, 2),
        `{${[...others, first].join(',')}}`,
        text.replace('"NGN"', '"\\u004eGN"').replace('NGN/USDT', 'NGN\\/USDT'),
        text.replace('"partner_order_id"', '"partner\\u005forder_id"'),
        text.replace('":10,', '":10.00,').replace('":0.5,', '":5e-1,'),
      ];
      const results: CaseResult[] = [];
      for (const spelling of texts) {
        const body = probes.signed(spelling);
        if (!probes.verifies(body)) continue;
        const answer = await deliverAsService(attack, body);
        // 401 says that it does not verify: then it is no repetition to this receiver.
        const isForgery = answer.kind === 'answered' && [400, 401, 403].includes(answer.status);
        const judge = results.length === 0 || isForgery ? judgeAcceptance : judgeRepetition;
        results.push(judge(answer));
      }
      return worstOf(results);
    },
  },
  'repeated-at-once': {
    what: 'an authentic delivery eight times at once',
    expected: '2xx, or 503 while another one is being handled, and one effect',
    causes: ['refuses-repetitions', 'acts-then-fails', 'remembers-before-acting'],
    faults: { repeated: 'acts twice on equal deliveries at the same time' },
    advice:
      'Look up and remember in one step (a unique column): between two steps a repetition gets through.',
    async run({ probes, post }) {
      const body = probes.authentic();
      return judgeAtOnce(await Promise.all(Array.from({ length: 8 }, () => post({ body }))));
    },
  },
  replayed: {
    what: 'the first delivery of this attack again, after many others',
    expected: '2xx or 4xx, and no second effect',
    causes: ['refuses-repetitions'],
    advice:
      'Remember more than the last deliveries: a sender can repeat one after many others, and an event has no time stamp.',
    async run({ baseline, post }) {
      return judgeRepetition(await post({ body: baseline }));
    },
  },
} satisfies CaseTable;

/** A repetition may be refused, but need not be: 409 says the same as 200 to some senders, and not to others. */
function judgeRepetition(answer: PostAnswer): CaseResult {
  const result = judgeRefusal(answer, { ifAccepted: 'ok' });
  if (isAccepted(answer) || result.verdict !== 'ok') return result;
  if (isPostponed(answer)) return skipped('503 with Retry-After: it has to come again');
  return { ...result, verdict: 'weak', advice: acknowledgeAgain, fault: 'refuses a repetition' };
}

function judgeAtOnce(answers: readonly PostAnswer[]): CaseResult {
  const answered = [...new Set(answers.map(describePostAnswer))].join(', ');
  const isBusy = (answer: PostAnswer) =>
    answer.kind === 'answered' && [409, 425, 429, 503].includes(answer.status);
  if (!answers.some(isAccepted)) {
    if (answers.some(isPostponed)) return skipped(answered);
    return {
      verdict: 'broken',
      answered,
      advice:
        'One of several equal deliveries at the same time must be accepted: here they lost against each other.',
      fault: 'accepts none of several equal deliveries at once',
    };
  }
  if (answers.every((answer) => isAccepted(answer) || isBusy(answer))) return { verdict: 'ok', answered };
  const advice =
    'Equal deliveries at the same time got in each other’s way. Answer 2xx to the ones that came second, or 503 with Retry-After while the first is being handled.';
  const verdict = answers.some(({ kind }) => kind !== 'answered') ? 'broken' : 'weak';
  return { verdict, answered, advice, fault: 'refuses one of several equal deliveries at once' };
}
