import { type CheckResult, skipped, worstOf } from '../../check-result.ts';
import { describePostAnswer, isAccepted, type PostAnswer } from '../../post-request.ts';
import { type CaseTable, deliverAsService, judgeAcceptance, judgeRefusal } from '../attack-case.ts';
import type { CauseTable } from '../cause.ts';
import { effects } from '../effects.ts';

const rememberHandled =
  'Remember what was handled and look it up first: senders repeat a delivery whose answer got lost.';
const oneStep =
  'Look up and remember in one step (a unique column): between two steps a repetition gets through.';
const rememberLonger =
  'Remember more than the last deliveries: a sender can repeat one after many others, and an event has no time stamp.';
const acknowledgeAgain =
  'Answer 2xx to a repetition, without handling it: a sender whose delivery is refused sends it again.';

/** Of these the answer counts. */
const answeredRepetitions = [
  'repeated',
  'repeated-at-once',
  'replayed',
  'repeated-after-others',
  'repeated-later',
  'repeated-during',
  'repeated-unanswered',
] as const;

/** The same delivery several times, and how often the receiver's code acted. */
export const repetitionCases = {
  repeated: {
    what: 'an authentic delivery twice, one after the other',
    expected: '2xx both times, and one effect',
    faults: { repeated: { fault: 'acts again on a repeated delivery', advice: rememberHandled } },
    async run(attack) {
      const body = attack.probes.authentic();
      const first = judgeAcceptance(await deliverAsService(attack, body), acknowledgeAgain);
      return worstOf([first, judgeRepetition(await attack.post({ body }))]);
    },
  },
  'repeated-during': {
    what: 'authentic deliveries that are repeated 1, 10, 40 and 150 ms later, while the first may still be handled',
    expected: '2xx, or 503 while the first is being handled, and one effect',
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
  'repeated-after-others': {
    what: 'an authentic delivery again after ten others',
    expected: '2xx, and one effect',
    faults: { repeated: { fault: 'acts again on a delivery after ten others', advice: rememberLonger } },
    async run(attack) {
      const { probes, post } = attack;
      const body = probes.authentic();
      const first = judgeAcceptance(await deliverAsService(attack, body), acknowledgeAgain);
      for (let other = 0; other < 10; other++) await post({ body: probes.authentic() });
      return worstOf([first, judgeRepetition(await post({ body }))]);
    },
  },
  'repeated-later': {
    what: 'an authentic delivery again after more than two seconds',
    expected: '2xx, and one effect',
    slow: 'beside',
    faults: { repeated: { fault: 'acts again on a delivery after two seconds', advice: rememberLonger } },
    async run(attack) {
      const { probes, post, pause } = attack;
      const body = probes.authentic();
      const first = judgeAcceptance(await deliverAsService(attack, body), acknowledgeAgain);
      await pause(2200);
      return worstOf([first, judgeRepetition(await post({ body }))]);
    },
  },
  respelled: {
    what: 'an authentic event again in other texts, each with its own valid signature: white space, order of members, escapes, spelling of numbers',
    expected: '2xx, and one effect',
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
      const text = probes.unsigned();
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
      const results: CheckResult[] = [];
      for (const each of texts) {
        const body = probes.signed(each);
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
  'repeated-unanswered': {
    what: 'authentic deliveries whose sender breaks off before the answer, and that are then repeated',
    expected: '2xx to the repetition, and one effect',
    faults: {
      retried: { fault: 'acts again on a delivery whose answer nobody waited for', advice: rememberHandled },
      forgotten: {
        fault: 'loses a delivery whose answer nobody waited for: it takes the repetition for handled',
        advice: 'Remember a delivery when it was acted on, in the same transaction, not when it arrives.',
      },
    },
    async run(attack) {
      const { probes, raw, record, pause } = attack;
      if (typeof raw !== 'function') return skipped(raw.missing);
      const results: CheckResult[] = [];
      for (const lag of [0, 5, 30]) {
        const body = probes.authentic();
        const connection = await raw().catch(() => undefined);
        if (connection === undefined) return skipped('a connection of its own could not be made');
        connection.request({ 'content-length': String(Buffer.byteLength(body)) }, body);
        await pause(lag);
        connection.destroy();
        record({ body }, { kind: 'closed', reason: 'by the sender' });
        await pause(20);
        results.push(judgeRepetition(await deliverAsService(attack, body)));
      }
      return worstOf(results);
    },
  },
  'repeated-at-once': {
    what: 'an authentic delivery eight times at once',
    expected: '2xx, or 503 while another one is being handled, and one effect',
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
    faults: { repeated: { fault: 'acts again on a delivery after many others', advice: rememberLonger } },
    async run({ baseline, post }) {
      return judgeRepetition(await post({ body: baseline }));
    },
  },
  'handled-once': effects({
    what: 'whether deliveries that came once, twice, and twice at the same time were handled once each',
    expected: 'handled once each',
    async run({ probes, post }) {
      const [single, twice, atOnce] = [probes.authentic(), probes.authentic(), probes.authentic()];
      const answers = [
        await post({ body: single }),
        await post({ body: twice }),
        await post({ body: twice }),
      ];
      answers.push(...(await Promise.all([0, 1].map(() => post({ body: atOnce, mayBeBusy: true })))));
      // The records of their orders are compared with those of all others.
      return { verdict: 'ok', answered: [...new Set(answers.map(describePostAnswer))].join(', ') };
    },
  }),
} satisfies CaseTable;

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

/** How repetitions are answered. */
export const refusedRepetitionCauses = {
  'refuses-authentic': {
    summary: 'refuses authentic deliveries after the first one',
    // It shows that even a plain delivery is refused later.
    shownBy: { lost: ['repeated'] },
    explains: { lost: 'every case' },
  },
  'refuses-repetitions': {
    summary: 'does not acknowledge a repetition',
    shownBy: {
      lost: answeredRepetitions,
      failed: answeredRepetitions,
      redirected: answeredRepetitions,
      other: answeredRepetitions,
    },
    explains: {
      lost: [...answeredRepetitions, 'conflicting-statements', 'authentic-completed'],
      failed: [...answeredRepetitions, 'respelled'],
      redirected: [...answeredRepetitions, 'respelled'],
      other: [...answeredRepetitions, 'respelled'],
    },
  },
} as const satisfies CauseTable;

const orderOfForgeries = [
  'forged-after-genuine',
  'forged-first',
  'handled-after-forgeries',
  'handled-after-forged-close',
] as const;
const olderOnes = ['repeated-later', 'replayed', 'authentic', 'handled-once'] as const;

/** How often a receiver acts. A second effect of a genuine event looks like one of the forgeries of its order. */
export const secondEffectCauses = {
  'acts-twice': {
    summary: 'acts more than once on one delivery',
    advice: 'Act in one place, once for each delivery.',
    shownBy: { repeated: ['authentic-extra-members', 'authentic-signature-first', 'authentic-large'] },
    explains: { repeated: 'every case', retried: 'every case', acted: orderOfForgeries },
  },
  'acts-again': {
    summary: 'acts again on a repeated delivery',
    shownBy: { repeated: ['repeated'] },
    explains: { repeated: 'every case', retried: 'every case', acted: orderOfForgeries },
  },
  'acts-then-fails': {
    summary: 'acts on an event, answers 5xx or 3xx or not at all, and acts again when it is repeated',
    // It may fail at the first delivery of every event.
    explains: {
      retried: 'every case',
      repeated: 'every case',
      acted: orderOfForgeries,
      lost: ['in-pieces'],
      failed: ['signature-escaped-name'],
      other: ['repeated-during', 'repeated-at-once'],
    },
    shownBy: { retried: 'every case' },
    unless: { repeated: ['repeated-at-once'] },
  },
  'forgets-among-others': {
    summary: 'acts again on a delivery after a few others: it remembers only the last ones',
    shownBy: { repeated: ['repeated-after-others'] },
    explains: { repeated: ['repeated-after-others', 'repeated-during', ...olderOnes] },
  },
  'acts-at-once': {
    summary: 'acts twice on equal deliveries at the same time',
    advice: oneStep,
    shownBy: { repeated: ['repeated-at-once', 'repeated-during'] },
    explains: {
      repeated: ['repeated-at-once', 'repeated-during', 'handled-once'],
      retried: ['repeated-unanswered'],
    },
  },
  respelled: {
    shownBy: { repeated: ['respelled'] },
    explains: { repeated: ['respelled', 'authentic-completed'] },
  },
  'repeated-later': {
    shownBy: { repeated: ['repeated-later'] },
    explains: { repeated: olderOnes },
  },
  replayed: {
    shownBy: { repeated: ['replayed'] },
    explains: { repeated: ['replayed', 'authentic'] },
  },
  'handled-once': {
    shownBy: { repeated: ['handled-once'] },
    explains: { repeated: ['handled-once', 'authentic'] },
  },
} as const satisfies CauseTable;
