import { describePostAnswer, type PostAnswer } from '../../../internal/post-request.ts';
import { type CheckResult, skipped } from '../../check-result.ts';
import {
  type Attack,
  type AttackCase,
  type CaseTable,
  judgeAcceptance,
  judgeRefusal,
} from '../attack-case.ts';
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
    async exchange(connection, body, { probes, post }) {
      connection.request({ 'content-length': String(body.length) }, body.slice(0, 100));
      await pause();
      connection.destroy();
      const answer = await post({ body: probes.authentic() });
      return judgeAcceptance(answer, 'A sender that breaks off must not keep others from being served.');
    },
  }),
  'slow-body': raw({
    what: 'a delivery whose second half does not come',
    expected: '408 or the connection closed, in time',
    async exchange(connection, body, { timeoutMs }) {
      connection.request({ 'content-length': String(body.length) }, body.slice(0, 100));
      // Waits longer than for other answers, because a receiver may have the same limit.
      const answer = await connection.answer(Math.ceil(timeoutMs * 1.5));
      if (answer.kind !== 'late') return judgeIncomplete(answer);
      return {
        verdict: 'weak',
        answered: describePostAnswer(answer),
        fault: 'has no time limit for bodies',
        advice:
          'Give bodies a time to arrive (of node:http: requestTimeout, which is 5 minutes) and close the connection then: open ones cost memory, and anybody can open many.',
      };
    },
  }),
} satisfies CaseTable;

/** Gives the receiver time to begin with the first part. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

interface RawCase extends Pick<AttackCase, 'what' | 'expected'> {
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
