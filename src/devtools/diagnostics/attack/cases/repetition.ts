import { describePostAnswer, isAccepted, type PostAnswer } from '../../post-request.ts';
import type { Attack, AttackCase, CaseTable } from '../attack-case.ts';
import { type CaseResult, worstOf } from '../case-result.ts';
import { deliverAsService, judgeAcceptance, judgeRefusal } from '../judge.ts';

const rememberHandled =
  'Remember what was handled and look it up first: senders repeat a delivery whose answer got lost.';
const oneStep =
  'Look up and remember in one step (a unique column): between two steps a repetition gets through.';
const rememberLonger =
  'Remember more than the last deliveries: a sender can repeat one after many others, and an event has no time stamp.';
const acknowledgeAgain =
  'Answer 2xx to a repetition, without handling it: a sender whose delivery is refused sends it again.';

/** Cases that send one delivery several times, and count how often the receiver's code acted. */
export const repetitionCases = {
  repeated: again({
    what: 'an authentic delivery twice, one after the other',
    expected: '2xx both times, and one effect',
    causes: ['refuses-repetitions'],
    faults: { repeated: { fault: 'acts again on a repeated delivery', advice: rememberHandled } },
  }),
  'repeated-during': {
    what: 'authentic deliveries that are repeated 1, 10, 40 and 150 ms later, while the first may still be handled',
    expected: '2xx, or 503 while the first is being handled, and one effect',
    causes: [
      'refuses-repetitions',
      'forgets-among-others',
      'acts-at-once',
      'acts-then-fails',
      'remembers-before-acting',
    ],
    faults: {
      repeated: {
        fault: 'acts twice on a delivery that is repeated while it handles the first',
        advice: oneStep,
      },
    },
    async run({ probes, post, pause }) {
      const rounds = [1, 10, 40, 150].map(async (lag) => {
        const body = probes.authentic();
        const first = post({ body, mayBeBusy: true });
        await pause(lag);
        return judgeAtOnce(await Promise.all([first, post({ body, mayBeBusy: true })]));
      });
      return worstOf(await Promise.all(rounds));
    },
  },
  'repeated-after-others': again({
    what: 'an authentic delivery again after ten others',
    causes: ['refuses-repetitions', 'forgets-among-others'],
    faults: { repeated: { fault: 'acts again on a delivery after ten others', advice: rememberLonger } },
    async between({ probes, post }) {
      for (let other = 0; other < 10; other++) await post({ body: probes.authentic() });
    },
  }),
  'repeated-later': again({
    what: 'an authentic delivery again after more than two seconds',
    causes: ['refuses-repetitions', 'forgets-among-others'],
    isSlow: true,
    faults: { repeated: { fault: 'acts again on a delivery after two seconds', advice: rememberLonger } },
    between: ({ pause }) => pause(2200),
  }),
  respelled: {
    what: 'an authentic event again in other texts, each with its own valid signature: white space, order of members, escapes, spelling of numbers',
    expected: '2xx, and one effect',
    causes: ['refuses-repetitions', 're-serialises'],
    faults: {
      repeated: {
        fault:
          'acts again on the same event in another text: it knows repetitions by their text or signature',
        advice:
          'Know an effect by the order and the event, not by the text, its digest or its signature: a sender that repeats an event may write it anew.',
      },
    },
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
        results.push(judge(answer, acknowledgeAgain));
      }
      return worstOf(results);
    },
  },
  'repeated-at-once': {
    what: 'an authentic delivery eight times at once',
    expected: '2xx, or 503 while another one is being handled, and one effect',
    causes: ['refuses-repetitions', 'acts-at-once', 'acts-then-fails', 'remembers-before-acting'],
    faults: {
      repeated: { fault: 'acts twice on equal deliveries at the same time', advice: oneStep },
    },
    async run({ probes, post }) {
      const body = probes.authentic();
      const requests = Array.from({ length: 8 }, () => post({ body, mayBeBusy: true }));
      return judgeAtOnce(await Promise.all(requests));
    },
  },
  replayed: {
    what: 'the first delivery of this attack again, after many others',
    expected: '2xx or 4xx, and no second effect',
    causes: ['refuses-repetitions', 'forgets-among-others', 'repeated-later'],
    faults: { repeated: { fault: 'acts again on a delivery after many others', advice: rememberLonger } },
    async run({ baseline, post }) {
      return judgeRepetition(await post({ body: baseline }));
    },
  },
} satisfies CaseTable;

interface Again extends Omit<AttackCase, 'run' | 'expected'> {
  readonly expected?: string;
  /** Runs before the repetition. */
  readonly between?: (attack: Attack) => Promise<void>;
}

/** An authentic delivery, and the same one again. */
function again({ expected = '2xx, and one effect', between, ...described }: Again): AttackCase {
  return {
    ...described,
    expected,
    async run(attack) {
      const body = attack.probes.authentic();
      const first = judgeAcceptance(await deliverAsService(attack, body), acknowledgeAgain);
      await between?.(attack);
      return worstOf([first, judgeRepetition(await attack.post({ body }))]);
    },
  };
}

/** A repetition may be refused, but need not be: 409 says the same as 200 to some senders, and not to others. */
function judgeRepetition(answer: PostAnswer): CaseResult {
  const finding = judgeRefusal(answer, { ifAccepted: 'ok', advice: '' });
  if (isAccepted(answer) || finding.verdict !== 'ok') return finding;
  return { ...finding, verdict: 'weak', advice: acknowledgeAgain, fault: 'refuses a repetition' };
}

function judgeAtOnce(answers: readonly PostAnswer[]): CaseResult {
  const answered = [...new Set(answers.map(describePostAnswer))].join(', ');
  const isBusy = (answer: PostAnswer) =>
    answer.kind === 'answered' && [409, 425, 429, 503].includes(answer.status);
  if (!answers.some(isAccepted)) {
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
