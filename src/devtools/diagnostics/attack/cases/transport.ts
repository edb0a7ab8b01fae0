import { type CheckResult, skipped, worstOf } from '../../check-result.ts';
import { describePostAnswer, type PostAnswer } from '../../post-request.ts';
import {
  type Attack,
  type AttackCase,
  type CaseTable,
  deliverAsService,
  judgeAcceptance,
  judgeRefusal,
} from '../attack-case.ts';
import type { CauseTable } from '../cause.ts';
import type { RawConnection } from '../raw-connection.ts';

const wholeBody = 'Wait for the whole body, as long as its length says, and verify it before any answer.';

/** Authentic bodies that arrive in pieces, or do not fit their headers. */
export const transportCases = {
  'in-pieces': raw({
    what: 'an authentic delivery whose body arrives in three pieces',
    expected: '2xx',
    async exchange(connection, body, { timeoutMs }) {
      const third = Math.ceil(body.length / 3);
      connection.request({ 'content-length': String(body.length) }, body.slice(0, third));
      for (const start of [third, 2 * third]) {
        await pause();
        connection.write(body.slice(start, start + third));
      }
      return judgeAcceptance(await connection.answer(timeoutMs), wholeBody);
    },
  }),
  'length-too-long': raw({
    what: 'a delivery that ends 100 bytes before its length says',
    expected: '4xx, or the connection closed',
    async exchange(connection, body, { timeoutMs }) {
      connection.request({ 'content-length': String(body.length + 100) }, body);
      connection.end();
      return judgeIncomplete(await connection.answer(timeoutMs));
    },
  }),
  'length-too-short': raw({
    what: 'a delivery that goes on 10 bytes beyond its length',
    expected: '4xx',
    async exchange(connection, body, { timeoutMs }) {
      connection.request({ 'content-length': String(body.length - 10) }, body);
      return judgeIncomplete(await connection.answer(timeoutMs));
    },
  }),
  'length-and-chunks': raw({
    what: 'a delivery with both a length and chunks, as request smuggling uses it',
    expected: '4xx, or the connection closed',
    async exchange(connection, body, { timeoutMs }) {
      const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
      connection.request({ 'content-length': '6', 'transfer-encoding': 'chunked' }, chunk);
      const advice =
        'Refuse requests with both Content-Length and Transfer-Encoding (RFC 9112, 6.3): a proxy in front may read another request out of them.';
      return judgeRefusal(await connection.answer(timeoutMs), {
        ifAccepted: 'weak',
        ifClosed: 'ok',
        advice,
      });
    },
  }),
  aborted: raw({
    what: 'a delivery whose sender breaks off in the middle, then a whole one',
    expected: '2xx to the second one',
    async exchange(connection, body, attack) {
      connection.request({ 'content-length': String(body.length) }, body.slice(0, 100));
      await pause();
      connection.destroy();
      const answer = await deliverAsService(attack, attack.probes.authentic());
      return judgeAcceptance(answer, 'A sender that breaks off must not keep others from being served.');
    },
  }),
  'slow-body': raw({
    what: 'two deliveries at a time whose second half does not come',
    expected: '408 or the connection closed, in time',
    slow: 'beside',
    looks: 2,
    async exchange(connection, _, { probes, raw: connect, timeoutMs }) {
      const second = typeof connect === 'function' ? await connect().catch(() => connection) : connection;
      const both = [...new Set([connection, second])].map(async (each) => {
        const body = probes.authentic();
        each.request({ 'content-length': String(body.length) }, body.slice(0, 100));
        // Servers look for slow bodies every half minute, whatever their limit is.
        const answer = await each.answer(4 * timeoutMs);
        each.destroy();
        return answer;
      });
      const answers = await Promise.all(both);
      const ended = answers.find(({ kind }) => kind !== 'late');
      if (ended !== undefined) return judgeIncomplete(ended);
      return {
        verdict: 'weak',
        answered: [...new Set(answers.map(describePostAnswer))].join(', '),
        fault: 'has no time limit for bodies',
        advice:
          'Give bodies a time to arrive (of node:http: requestTimeout, which is 5 minutes) and close the connection then: open ones cost memory, and anybody can open many.',
      };
    },
  }),
} satisfies CaseTable;

/** Forgeries in other forms of a request, and deliveries that share a connection. */
export const connectionCases = {
  'forged-chunked': raw({
    what: 'a forged delivery in chunks, without a length',
    expected: '4xx, or the connection closed',
    exchange: (connection, _, attack) =>
      refusedForm(connection, attack, (body) => {
        const chunks = [body.slice(0, 50), body.slice(50)].map((part) => `${hexLength(part)}\r\n${part}\r\n`);
        return [{ 'transfer-encoding': 'chunked' }, `${chunks.join('')}0\r\n\r\n`];
      }),
  }),
  'forged-expect': raw({
    what: 'a forged delivery that asks to go on before it sends its body (Expect: 100-continue)',
    expected: '4xx, or the connection closed',
    exchange: (connection, _, attack) =>
      refusedForm(connection, attack, (body) => [
        { 'content-length': String(body.length), expect: '100-continue' },
        body,
      ]),
  }),
  'forged-behind-genuine': raw({
    what: 'a forged delivery right behind a genuine one on the same connection: at once, and after its answer',
    expected: '2xx, then 4xx or the connection closed',
    async exchange(connection, genuine, attack) {
      const { probes, record, raw: connect, timeoutMs } = attack;
      const results: CheckResult[] = [];
      for (const isAtOnce of [true, false]) {
        const first = isAtOnce ? genuine : probes.authentic();
        const forged = probes.forged();
        const current = isAtOnce || typeof connect !== 'function' ? connection : await connect();
        const send = (body: string) => current.request({ 'content-length': String(body.length) }, body);
        send(first);
        if (!isAtOnce) await current.statuses(1, timeoutMs);
        send(forged);
        const [ofGenuine, ofForged] = await current.statuses(2, Math.min(timeoutMs, 3000));
        current.destroy();
        record({ body: first }, answerOf(ofGenuine));
        record({ body: forged }, answerOf(ofForged));
        // A server may take one request of a connection only.
        const judged = judgeRefusal(answerOf(ofForged), {
          ifClosed: 'ok',
          fault: trustsConnection,
          advice: perRequest,
        });
        results.push(judged);
      }
      return worstOf(results);
    },
  }),
  'behind-a-refusal': raw({
    what: 'genuine deliveries behind a refused one on the same connection, a small and a large one',
    expected: '4xx, then 2xx or the connection closed',
    async exchange(_, __, { probes, record, raw: connect, timeoutMs }) {
      const results: CheckResult[] = [];
      for (const size of [1, 200_000]) {
        if (typeof connect !== 'function') break;
        const current = await connect();
        const [forged, genuine] = [
          probes.forged(probes.unsigned({ note: 'x'.repeat(size) })),
          probes.authentic(),
        ];
        current.request({ 'content-length': String(forged.length) }, forged);
        const [refusal] = await current.statuses(1, timeoutMs);
        if (refusal !== undefined) current.request({ 'content-length': String(genuine.length) }, genuine);
        const [, second] = await current.statuses(2, Math.min(timeoutMs, 3000));
        current.destroy();
        record({ body: forged }, answerOf(refusal));
        record({ body: genuine }, answerOf(second));
        // A failure has the sender repeat it.
        const isLost = second !== undefined && second >= 300 && second < 500 && second !== 429;
        results.push(
          isLost
            ? {
                verdict: 'broken',
                answered: `${refusal}, then ${second}`,
                problem: 'lost',
                fault: 'takes the rest of a refused body for the next request of the connection',
                advice: 'Read a refused body to its end, or close the connection after the answer.',
              }
            : { verdict: 'ok', answered: `${refusal ?? 'closed'}, then ${second ?? 'closed'}` },
        );
      }
      return worstOf(results);
    },
  }),
} satisfies CaseTable;

const trustsConnection = 'accepts a forgery behind a genuine delivery on the same connection';
const perRequest =
  'Verify each request by itself: a proxy sends the deliveries of many senders over one connection.';

function answerOf(status: number | undefined): PostAnswer {
  if (status === undefined) return { kind: 'closed', reason: 'no further answer' };
  return { kind: 'answered', status, headers: new Headers({ 'retry-after': '1' }), text: '' };
}

function hexLength(text: string): string {
  return text.length.toString(16);
}

async function refusedForm(
  connection: RawConnection,
  { probes, record, timeoutMs }: Attack,
  write: (body: string) => [headers: Readonly<Record<string, string>>, text: string],
): Promise<CheckResult> {
  const body = probes.forged();
  connection.request(...write(body));
  const answer = await connection.answer(timeoutMs);
  record({ body }, answer);
  return judgeRefusal(answer, {
    ifClosed: 'ok',
    fault: 'accepts forgeries in another form of a request',
    advice: 'Verify the bytes of the body, in whichever form the request brings them.',
  });
}

/** Gives the receiver time to begin with the first part. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

interface RawCase extends Omit<AttackCase, 'run'> {
  readonly exchange: (connection: RawConnection, body: string, attack: Attack) => Promise<CheckResult>;
}

function raw({ exchange, ...described }: RawCase): AttackCase {
  return {
    ...described,
    async run(attack) {
      if (typeof attack.raw !== 'function') return skipped(attack.raw.missing);
      let connection: RawConnection;
      try {
        connection = await attack.raw();
      } catch {
        attack.signal?.throwIfAborted();
        return skipped('a connection of its own could not be made');
      }
      try {
        return await exchange(connection, attack.probes.authentic(), attack);
      } finally {
        connection.destroy();
        attack.signal?.throwIfAborted();
      }
    },
  };
}

function judgeIncomplete(answer: PostAnswer): CheckResult {
  // Some servers answer a broken connection with 5xx by themselves.
  if (answer.kind === 'answered' && answer.status >= 500) {
    return {
      verdict: 'weak',
      answered: describePostAnswer(answer),
      advice: 'Answer 400 to an incomplete body.',
      problem: 'failed',
    };
  }
  return judgeRefusal(answer, { ifClosed: 'ok', advice: wholeBody });
}

/** How bodies are read, and whether there is an answer. */
export const transportCauses = {
  'reads-one-piece': {
    summary: 'reads only the first piece of a body',
    shownBy: { lost: ['in-pieces'] },
    explains: { lost: ['in-pieces', 'authentic-large', 'authentic-60-kilobytes', 'behind-a-refusal'] },
  },
  'reads-incomplete-bodies': {
    summary: 'accepts a delivery whose body is not whole',
    explains: { accepted: ['length-too-long', 'length-too-short', 'slow-body'] },
  },
  'does-not-answer': {
    summary: 'does not answer in time',
    atLeast: 3,
    explains: { late: 'every case' },
  },
  'drops-connections': {
    summary: 'drops the connection where it must answer',
    atLeast: 3,
    explains: { closed: 'every case' },
  },
} as const satisfies CauseTable;
