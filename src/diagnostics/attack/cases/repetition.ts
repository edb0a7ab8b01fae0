import { type Answer, describeAnswer, isAccepted } from '../../../internal/post-request.ts';
import type { Attack, AttackCase } from '../attack-case.ts';
import { type CaseResult, judgeAcceptance, judgeRefusal, skipped, worstOf } from '../attack-case.ts';
import { orderIdOf, withSignature } from '../probes.ts';

const acknowledgeAgain =
  'Answer 2xx to a repetition, without handling it: a sender whose delivery is refused sends it again.';

/** One delivery several times, and what the receiver's own code did. */
export const repetitionCases: readonly AttackCase[] = [
  {
    id: 'repeated',
    what: 'an authentic delivery twice, one after the other',
    expected: '2xx both times',
    async run({ probes, post }) {
      const body = probes.authentic();
      const first = judgeAcceptance(await post({ body }), acknowledgeAgain);
      return worstOf([first, judgeRepetition(await post({ body }))]);
    },
  },
  {
    id: 'repeated-at-once',
    what: 'an authentic delivery eight times at once',
    expected: '2xx, or 503 while another one is being handled',
    async run({ probes, post }) {
      const body = probes.authentic();
      return judgeAtOnce(await Promise.all(Array.from({ length: 8 }, () => post({ body }))));
    },
  },
  {
    id: 'replayed',
    what: 'the first delivery of this attack again, after many others',
    expected: '2xx or 4xx',
    async run({ baseline, post }) {
      return judgeRepetition(await post({ body: baseline }));
    },
  },
  {
    id: 'handled-once',
    what: 'whether a delivery that came three times, twice of them at once, was handled once',
    expected: 'handled once',
    async run(attack) {
      if (attack.handled === undefined) return skipped(onlyOwnerKnows);
      const body = attack.probes.authentic();
      await Promise.all([attack.post({ body }), attack.post({ body })]);
      await attack.post({ body });
      const count = await settledCount(attack, orderIdOf(body));
      if (count === 0) return skipped('not handled within a second: ask again later');
      if (count === 1) return { verdict: 'ok', answered: 'handled once' };
      return {
        verdict: 'broken',
        answered: `handled ${count} times`,
        advice:
          'Remember what was handled, and look it up and write it in one step (a unique column): senders repeat deliveries, also at the same time.',
      };
    },
  },
  {
    id: 'acted-before-verification',
    what: 'whether anything was done about unsigned, forged and altered deliveries',
    expected: 'nothing done',
    async run(attack) {
      if (attack.handled === undefined) return skipped(onlyOwnerKnows);
      const { unsigned, sign, authentic } = attack.probes;
      const bodies = [
        unsigned(),
        withSignature(unsigned(), sign(unsigned())),
        withSignature(unsigned(), ''),
        authentic().replace('":10,', '":70,'),
      ];
      const findings: CaseResult[] = [];
      for (const body of bodies) {
        await attack.post({ body });
        const count = await attack.handled(orderIdOf(body));
        findings.push(
          count === 0
            ? { verdict: 'ok', answered: 'nothing done' }
            : { verdict: 'broken', answered: 'handled', advice: actAfter },
        );
      }
      return worstOf(findings);
    },
  },
];

const actAfter =
  'Verify before anything is written, queued or called. A forged delivery was acted on, whatever was answered.';
const onlyOwnerKnows = 'only your own records of the orders can tell: give `handled`, in a program of yours';

/** Waits for later effects not much longer than a database takes. */
async function settledCount({ handled, signal }: Attack, id: string): Promise<number> {
  for (let waited = 0; ; waited += 50) {
    const count = (await handled?.(id)) ?? 0;
    if (count > 0 || waited >= 1000) return count;
    signal?.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A repetition may be refused, but need not be: 409 says the same as 200 to some senders, and not to others. */
function judgeRepetition(answer: Answer): CaseResult {
  const finding = judgeRefusal(answer, { ifAccepted: 'ok', advice: '' });
  if (isAccepted(answer) || finding.verdict !== 'ok') return finding;
  return { ...finding, verdict: 'weak', advice: acknowledgeAgain };
}

function judgeAtOnce(answers: readonly Answer[]): CaseResult {
  const answered = [...new Set(answers.map(describeAnswer))].join(', ');
  const isBusy = (answer: Answer) =>
    answer.kind === 'answered' && [409, 425, 429, 503].includes(answer.status);
  if (!answers.some(isAccepted)) {
    const advice =
      'One of several equal deliveries at the same time must be accepted: here they lost against each other.';
    return { verdict: 'broken', answered, advice };
  }
  if (answers.every((answer) => isAccepted(answer) || isBusy(answer))) return { verdict: 'ok', answered };
  const advice =
    'Equal deliveries at the same time got in each other’s way. Answer 2xx to the ones that came second, or 503 with Retry-After while the first is being handled.';
  return { verdict: answers.some(({ kind }) => kind !== 'answered') ? 'broken' : 'weak', answered, advice };
}
