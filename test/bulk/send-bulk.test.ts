import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { BulkResult, BulkRow } from '../../src/bulk/bulk-rows.ts';
import { type BulkOptions, sendBulk } from '../../src/bulk/index.ts';
import {
  ConfigurationError,
  RequestError,
  type RequestErrorCode,
  type RequestErrorDetails,
  StoreError,
} from '../../src/errors/errors.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { nextTurn } from '../support/next-turn.ts';
import { refusal } from '../support/refusal.ts';
import { warningsDuring } from '../webhooks/warnings.ts';
import { virtualTime } from './virtual-time.ts';

const never = new AbortController().signal;

type Message = { readonly to_phone: string; readonly message: string };

/** A device that answers each message with the next of these; afterwards it accepts everything. */
function device(answers: readonly (Error | undefined)[] = [], now: () => number = Date.now) {
  const sent: (Message & { readonly at: number })[] = [];
  let calls = 0;
  return {
    sent,
    get calls() {
      return calls;
    },
    async sendMessage(message: Message) {
      const answer = answers[calls++];
      if (answer !== undefined) throw answer;
      sent.push({ ...message, at: now() });
      // Sound: nothing reads the reply.
      return {} as never;
    },
  };
}

function failed({
  code = 'http_error',
  ...details
}: Partial<RequestErrorDetails> & { code?: RequestErrorCode }): RequestError {
  return new RequestError(code, 'It failed.', {
    outcome: 'refused',
    operation: 'sendMessage',
    method: 'POST',
    url: 'https://messenger.example',
    ...details,
  });
}

const lost = failed({ code: 'timeout', outcome: 'unknown' });
const unreachable = failed({ code: 'connection_failed', outcome: 'not-sent' });
const notOnMessenger = failed({ status: 422 });

function phone(index: number): string {
  return `+23480${String(12_345_000 + index)}`;
}

function rowsOf(count: number): BulkRow[] {
  return Array.from({ length: count }, (_, index) => ({ to_phone: phone(index), message: `Hello ${index}` }));
}

function setUp(options: Partial<BulkOptions> = {}) {
  const time = virtualTime();
  const store = memoryStore({ now: time.now });
  const messenger = device([], time.now);
  const start = (more: Partial<BulkOptions> = {}) =>
    sendBulk({
      messenger,
      rows: rowsOf(3),
      store,
      campaign: 'test',
      now: time.now,
      sleep: time.sleep,
      ...options,
      ...more,
    });
  const run = (more: Partial<BulkOptions> = {}) => collect(start(more));
  /** A process of its own claims the first row, and dies while it waits for the reply. */
  const die = async () => {
    const messenger = { sendMessage: () => new Promise<never>(() => {}) };
    start({ messenger })[Symbol.asyncIterator]().next();
    await time.sleep(10, never);
  };
  return { time, store, messenger, start, run, die };
}

async function collect(run: AsyncIterable<BulkResult>): Promise<BulkResult[]> {
  const results = [];
  for await (const result of run) results.push(result);
  return results;
}

/** The results before an error, and the error. */
async function untilError(run: AsyncIterable<BulkResult>) {
  const results: BulkResult[] = [];
  try {
    for await (const result of run) results.push(result);
  } catch (error) {
    return { results, error };
  }
  throw new Error('The run ended without an error.');
}

function states(results: readonly BulkResult[]): string[] {
  return results.map(({ state }) => state);
}

describe('sendBulk', () => {
  it('sends every row once and says so', async () => {
    const { run, messenger } = setUp();
    expect(await run()).toEqual(
      ['1', '2', '3'].map((key) => ({ key, state: 'sent', attempts: 1, replayed: false })),
    );
    expect(messenger.sent.map(({ to_phone, message }) => [to_phone, message])).toEqual([
      [phone(0), 'Hello 0'],
      [phone(1), 'Hello 1'],
      [phone(2), 'Hello 2'],
    ]);
  });

  it('sends nothing before somebody iterates', async () => {
    const { start, messenger } = setUp();
    start();
    await nextTurn();
    expect(messenger.calls).toBe(0);
  });

  it('can be iterated once', async () => {
    const run = setUp().start();
    await collect(run);
    expect(() => run[Symbol.asyncIterator]()).toThrow('once');
  });

  it('names results by the keys of the rows', async () => {
    const { run } = setUp();
    const rows = ['customer-7', 'x'.repeat(1000)].map((key, index) => ({
      key,
      to_phone: phone(index),
      message: 'Hello',
    }));
    expect(await run({ rows })).toEqual(
      rows.map(({ key }) => ({ key, state: 'sent', attempts: 1, replayed: false })),
    );
  });

  it('takes a number as people write it, and a country for those without +', async () => {
    const { run, messenger } = setUp();
    await run({ rows: [{ to_phone: '0801 234-5000', message: 'Hello' }], country: 'NG' });
    expect(messenger.sent[0]?.to_phone).toBe(phone(0));
  });

  it('reports rows that are no messages, without their content, and goes on', async () => {
    const { run, messenger } = setUp();
    const rows: unknown[] = [
      { to_phone: '12', message: 'secret text' },
      { to_phone: phone(1), message: ' ' },
      { to_phone: 5, message: 'x' },
      { to_phone: phone(1), message: 'x'.repeat(65_537) },
      null,
      { key: '7', invalid: 'line 7: 1 columns instead of 3' },
      { to_phone: phone(2), message: 'Hello' },
    ];
    // Sound: the point is what the types refuse.
    const results = await run({ rows: rows as BulkRow[] });
    expect(states(results)).toEqual([...Array(6).fill('invalid'), 'sent']);
    expect(results[5]).toEqual({
      key: '7',
      state: 'invalid',
      attempts: 0,
      code: 'invalid_input',
      problem: 'line 7: 1 columns instead of 3',
      replayed: false,
    });
    expect(JSON.stringify(results)).not.toContain('secret');
    expect(messenger.calls).toBe(1);
  });

  it('takes rows from an async iterable and tells it when it stops early', async () => {
    const { start } = setUp();
    let returned = false;
    async function* rows() {
      try {
        yield* rowsOf(100);
      } finally {
        returned = true;
      }
    }
    for await (const _ of start({ rows: rows() })) break;
    expect(returned).toBe(true);
  });

  describe('sends no number twice', () => {
    it('in one run: the second row with a number is a duplicate, however it is written', async () => {
      const { run, messenger } = setUp();
      const rows = [
        { to_phone: '+2348012345000', message: 'one' },
        { to_phone: '+234 (801) 234 5000', message: 'two' },
      ];
      expect(states(await run({ rows }))).toEqual(['sent', 'duplicate']);
      expect(states(await run({ rows }))).toEqual(['sent', 'duplicate']);
      expect(messenger.calls).toBe(1);
    });

    it('in a second run: what was sent is reported again, and not sent', async () => {
      const { run, messenger } = setUp();
      await run();
      expect(await run()).toEqual(
        ['1', '2', '3'].map((key) => ({ key, state: 'sent', attempts: 1, replayed: true })),
      );
      expect(messenger.calls).toBe(3);
    });

    it('in a second run, which does not wait for the pace where nothing is sent', async () => {
      const { run, time } = setUp({ rows: rowsOf(50) });
      await run();
      const begun = time.now();
      await run();
      expect(time.now() - begun).toBe(0);
    });

    it('in one campaign; another campaign is another matter', async () => {
      const { run, messenger } = setUp();
      await run();
      await run({ campaign: 'other' });
      expect(messenger.calls).toBe(6);
    });

    it('in two runs at once: each number is sent by one of them', async () => {
      const { start, messenger } = setUp({ rows: rowsOf(40), concurrency: 3 });
      const results = (await Promise.all([collect(start()), collect(start())])).flat();
      expect(messenger.sent.length).toBe(40);
      expect(new Set(messenger.sent.map(({ to_phone }) => to_phone)).size).toBe(40);
      expect(states(results)).toEqual(Array(80).fill('sent'));
      expect(results.filter(({ replayed }) => !replayed).length).toBe(40);
    });

    it('after a process died: its claim is unknown once its lease is over, and is left alone', async () => {
      const { run, die, time, messenger } = setUp({ rows: rowsOf(1) });
      await die();
      const begun = time.now();
      expect(await run()).toEqual([{ key: '1', state: 'unknown', attempts: 1, replayed: true }]);
      expect(time.now() - begun).toBeGreaterThanOrEqual(119_000);
      expect(time.now() - begun).toBeLessThan(122_000);
      expect(messenger.calls).toBe(0);
      expect(states(await run({ repeat: ['unknown'] }))).toEqual(['sent']);
    });

    it('after the clock was set back: a dead claim lives no longer than its lease', async () => {
      const { run, die, time } = setUp({ rows: rowsOf(1) });
      await die();
      time.set(time.now() - 3_600_000);
      const begun = time.now();
      expect(states(await run())).toEqual(['unknown']);
      expect(time.now() - begun).toBeLessThan(122_000);
    });
  });

  it('lets no message leave after its claim has ended, so that another run sends it once', async () => {
    const { start, run, store, time, messenger } = setUp({ rows: rowsOf(1) });
    // The process is suspended between the claim and the request.
    let another: BulkResult[] | undefined;
    const suspended: RecordStore = {
      ...store,
      async transact(keys, change) {
        const result = await store.transact(keys, change);
        const [record] = await store.list({ prefix: '', limit: 1 });
        if (record !== undefined && another === undefined) {
          another = [];
          time.set(time.now() + 120_000);
          another = await run({ repeat: ['unknown'] });
        }
        return result;
      },
    };
    const late = device();
    expect(states(await collect(start({ messenger: late, store: suspended })))).toEqual(['not-sent']);
    expect(states(another ?? [])).toEqual(['sent']);
    expect([late.calls, messenger.calls]).toEqual([0, 1]);
    expect(await store.list({ prefix: '', limit: 2 })).toMatchObject([{ value: { state: 'sent' } }]);
  });

  it('tells the device how long the message may still leave', async () => {
    const { run, time } = setUp({ rows: rowsOf(1) });
    let left: number[] = [];
    const messenger: BulkOptions['messenger'] = {
      async sendMessage(_: Message, options?: { leftMs?: (() => number) | undefined }) {
        left = [options?.leftMs?.() ?? 0];
        time.set(time.now() + 120_000);
        left.push(options?.leftMs?.() ?? 0);
        // Sound: nothing reads the reply.
        return {} as never;
      },
    };
    await run({ messenger });
    expect(left).toEqual([120_000, 0]);
  });

  it('keeps what the next run did when one that lost its lease has a result', async () => {
    const { start, run, store, time } = setUp({ rows: rowsOf(1) });
    const { promise: answer, reject } = Promise.withResolvers<never>();
    const slow = collect(start({ messenger: { sendMessage: () => answer } }));
    await time.sleep(10, never);
    time.set(time.now() + 120_000);
    expect(states(await run({ repeat: ['unknown'] }))).toEqual(['sent']);
    reject(notOnMessenger);
    expect(states(await slow)).toEqual(['refused']);
    expect(await store.list({ prefix: '', limit: 2 })).toMatchObject([
      { value: { state: 'sent', attempts: 2 } },
    ]);
  });

  describe('when something fails,', () => {
    it('reports a message by its outcome', async () => {
      const { run } = setUp();
      const messenger = device([lost, notOnMessenger, unreachable]);
      expect(await run({ messenger })).toEqual([
        { key: '1', state: 'unknown', attempts: 1, code: 'timeout', replayed: false },
        { key: '2', state: 'refused', attempts: 1, code: 'http_error', status: 422, replayed: false },
        { key: '3', state: 'not-sent', attempts: 1, code: 'connection_failed', replayed: false },
      ]);
    });

    it('sends a message again in a second run only if it did not reach the service', async () => {
      const { run, messenger } = setUp();
      await run({ messenger: device([lost, notOnMessenger, unreachable]) });
      expect(await run()).toEqual([
        { key: '1', state: 'unknown', attempts: 1, code: 'timeout', replayed: true },
        { key: '2', state: 'refused', attempts: 1, code: 'http_error', status: 422, replayed: true },
        { key: '3', state: 'sent', attempts: 2, replayed: false },
      ]);
      expect(messenger.calls).toBe(1);
    });

    it('sends a message again after a 404 of a wrong base URL, and not if the 404 names the number', async () => {
      const { run } = setUp();
      const wrongAddress = failed({ status: 404, body: 'Not found' });
      const noSuchNumber = failed({
        status: 404,
        body: { error: 'number_not_found' },
        assumptions: ['otp-refusal'],
      });
      const messenger = device([wrongAddress, noSuchNumber]);
      expect(states(await run({ messenger }))).toEqual(['not-sent', 'refused', 'sent']);
      expect(states(await run())).toEqual(['sent', 'refused', 'sent']);
    });

    it('calls a number outside allowedPrefixes invalid, and sends nothing to it', async () => {
      const { run, messenger } = setUp();
      const rows = [
        { to_phone: '+12025550123', message: 'Hello' },
        { to_phone: phone(1), message: 'Hello' },
      ];
      expect(await run({ rows, allowedPrefixes: ['+234'] })).toMatchObject([
        { state: 'invalid', problem: 'to_phone begins with none of allowedPrefixes' },
        { state: 'sent' },
      ]);
      expect(messenger.sent.map(({ to_phone }) => to_phone)).toEqual([phone(1)]);
    });

    it('sends a message again as `repeat` says', async () => {
      const { run, messenger } = setUp();
      await run({ messenger: device([lost, notOnMessenger, unreachable]) });
      expect(states(await run({ repeat: [] }))).toEqual(['unknown', 'refused', 'not-sent']);
      expect(states(await run({ repeat: ['refused'] }))).toEqual(['unknown', 'sent', 'not-sent']);
      expect(states(await run({ repeat: ['unknown', 'not-sent'] }))).toEqual(['sent', 'sent', 'sent']);
      expect(messenger.calls).toBe(3);
    });

    it('ends the run when so many in a row failed, and says why', async () => {
      const { start, run } = setUp({ rows: rowsOf(10), stopAfterFailures: 3 });
      const messenger = device([unreachable, undefined, unreachable, lost, notOnMessenger]);
      const { results, error } = await untilError(start({ messenger }));
      expect(states(results)).toEqual(['not-sent', 'sent', 'not-sent', 'unknown', 'refused']);
      expect(error).toMatchObject({ name: 'BulkError', code: 'too_many_failures', cause: notOnMessenger });
      expect(states(await run()).slice(5)).toEqual(Array(5).fill('sent'));
    });

    it('pauses the device after 429 for as long as the service asks, and sends the row after it', async () => {
      const { run, time } = setUp();
      const messenger = device([undefined, failed({ status: 429, retryAfterMs: 45_000 })], time.now);
      const results = await run({ messenger, repeat: [] });
      expect(states(results)).toEqual(['sent', 'sent', 'sent']);
      expect(results[1]?.attempts).toBe(2);
      const [first, second, third] = messenger.sent.map(({ at }) => at);
      expect(Number(second) - Number(first)).toBe(46_000);
      expect(Number(third) - Number(second)).toBe(1000);
    });

    it('pauses the device for half a minute after 429 without Retry-After', async () => {
      const { run, time } = setUp({ rows: rowsOf(1) });
      const begun = time.now();
      await run({ messenger: device([failed({ status: 429 })]) });
      expect(time.now() - begun).toBe(30_000);
    });

    it('counts 429 for all that were under way together as one failure', async () => {
      const { run, time } = setUp({ rows: rowsOf(40), concurrency: 20, messagesPerSecond: 1000 });
      let calls = 0;
      const messenger = {
        async sendMessage() {
          const call = ++calls;
          await time.sleep(500, never);
          if (call <= 20) throw failed({ status: 429, retryAfterMs: 60_000 });
          return {} as never;
        },
      };
      expect(states(await run({ messenger }))).toEqual(Array(40).fill('sent'));
    });

    it('ends the run after 429 for every message', async () => {
      const { start } = setUp();
      const messenger = device(Array(50).fill(failed({ status: 429 })));
      const { results, error } = await untilError(start({ messenger }));
      expect(error).toMatchObject({ code: 'too_many_failures' });
      expect(results).toMatchObject([{ state: 'not-sent', attempts: 10 }]);
    });

    it.each([401, 403])('stops the device after %i; another one sends its row', async (status) => {
      const { run, time } = setUp({ rows: rowsOf(6) });
      const refusedDevice = device([failed({ status })], time.now);
      const good = device([], time.now);
      const results = await run({ messenger: [refusedDevice, good] });
      expect(results.map(({ key }) => key).sort()).toEqual(['1', '2', '3', '4', '5', '6']);
      expect(states(results)).toEqual(Array(6).fill('sent'));
      expect(refusedDevice.calls).toBe(1);
      expect(good.calls).toBe(6);
    });

    it('begins nothing more on a device that was stopped, whatever waits for its turn', async () => {
      const { run, time } = setUp({ rows: rowsOf(6), concurrency: 3 });
      const good = device([], time.now);
      let calls = 0;
      const refusedDevice = {
        async sendMessage() {
          calls++;
          await time.sleep(500, never);
          throw failed({ status: 401 });
        },
      };
      expect(states(await run({ messenger: [refusedDevice, good] }))).toEqual(Array(6).fill('sent'));
      expect([calls, good.calls]).toEqual([1, 6]);
    });

    it('hands a row that a device gives back last to another one, although that has run out of rows', async () => {
      const { run, time } = setUp({ rows: rowsOf(2) });
      const good = device([], time.now);
      const slow = {
        async sendMessage() {
          await time.sleep(20_000, never);
          throw failed({ status: 401 });
        },
      };
      expect(states(await run({ messenger: [slow, good] }))).toEqual(['sent', 'sent']);
      expect(good.calls).toBe(2);
    });

    it('holds back what waits for its turn after 429', async () => {
      const { run, time } = setUp({ concurrency: 2 });
      const begunAt: number[] = [];
      const messenger = {
        async sendMessage() {
          begunAt.push(time.now());
          await time.sleep(500, never);
          if (begunAt.length === 1) throw failed({ status: 429, retryAfterMs: 60_000 });
          return {} as never;
        },
      };
      await run({ messenger });
      expect(begunAt.map((at) => at - Number(begunAt[0]))).toEqual([0, 60_500, 61_500, 62_500]);
    });

    it('ends the run with the last device that is refused; its row is for the next run', async () => {
      const { start, run } = setUp();
      const { results, error } = await untilError(start({ messenger: device([failed({ status: 401 })]) }));
      expect(results).toEqual([
        { key: '1', state: 'not-sent', attempts: 1, code: 'http_error', status: 401, replayed: false },
      ]);
      expect(error).toMatchObject({ code: 'no_device_left' });
      expect(states(await run())).toEqual(['sent', 'sent', 'sent']);
    });

    it('ends the run at once if a client is not configured', async () => {
      const { start, run } = setUp();
      const error = new ConfigurationError('not_configured', 'No key.');
      const ended = await untilError(start({ messenger: device([error]) }));
      expect(ended).toMatchObject({ results: [{ state: 'not-sent' }], error });
      expect(states(await run())).toEqual(['sent', 'sent', 'sent']);
    });

    it('leaves the row unknown and ends the run after an error that is not of the messenger', async () => {
      const { start } = setUp();
      const bug = new TypeError('bug');
      expect(await untilError(start({ messenger: device([bug]) }))).toMatchObject({
        results: [{ state: 'unknown' }],
        error: bug,
      });
    });

    it('sends nothing if the store fails before the claim', async () => {
      const { start, store, messenger } = setUp();
      const broken = failing(store, 2);
      const { results, error } = await untilError(start({ store: broken }));
      expect(results).toEqual([]);
      expect(error).toMatchObject({ code: 'store_failed' });
      expect(messenger.calls).toBe(0);
    });

    it('reports what is true and ends the run if the store fails after the request', async () => {
      const { start, store, run, time } = setUp();
      const { results, error } = await untilError(start({ store: failing(store, 3) }));
      expect(states(results)).toEqual(['sent']);
      expect(error).toMatchObject({ code: 'store_failed' });
      time.set(time.now() + 120_000);
      expect(states(await run())).toEqual(['unknown', 'sent', 'sent']);
    });

    it('says what ended the run even if the rows cannot be closed', async () => {
      const { start } = setUp();
      const bug = new TypeError('bug');
      const rows = {
        [Symbol.iterator]: () => ({
          next: () => ({ done: false, value: { to_phone: phone(0), message: 'Hello' } }),
          return(): never {
            throw new Error('It cannot be closed.');
          },
        }),
      };
      expect(await untilError(start({ rows, messenger: device([bug]) }))).toMatchObject({ error: bug });
    });

    it('ends the run after what was begun if the rows break off', async () => {
      const { start } = setUp();
      async function* rows() {
        yield* rowsOf(2);
        throw new Error('The file broke off.');
      }
      const { results, error } = await untilError(start({ rows: rows() }));
      expect(states(results)).toEqual(['sent', 'sent']);
      expect(error).toMatchObject({ message: 'The file broke off.' });
    });
  });

  describe('at its pace', () => {
    it.each([
      { messagesPerSecond: 1, concurrency: 1 },
      { messagesPerSecond: 20, concurrency: 4 },
      { messagesPerSecond: 0.5, concurrency: 2 },
    ])(
      'holds $messagesPerSecond a second with $concurrency at once',
      async ({ messagesPerSecond, concurrency }) => {
        const { run, time, messenger } = setUp({ rows: rowsOf(101) });
        const begun = time.now();
        await run({ messagesPerSecond, concurrency });
        const steps = messenger.sent.map(({ at }, index) => at - begun - (index * 1000) / messagesPerSecond);
        expect(Math.max(...steps.map(Math.abs))).toBeLessThan(1);
      },
    );

    it('counts for each device by itself', async () => {
      const { run, time } = setUp({ rows: rowsOf(20) });
      const devices = [device([], time.now), device([], time.now)];
      const begun = time.now();
      await run({ messenger: devices });
      expect(devices.map(({ calls }) => calls)).toEqual([10, 10]);
      expect(time.now() - begun).toBeLessThanOrEqual(9_001);
    });

    it('has no burst after a slow message', async () => {
      const { run, time } = setUp({ rows: rowsOf(5) });
      const sentAt: number[] = [];
      const messenger = {
        async sendMessage() {
          sentAt.push(time.now());
          if (sentAt.length === 1) await time.sleep(10_000, never);
          return {} as never;
        },
      };
      await run({ messenger });
      const gaps = sentAt.slice(1).map((at, index) => at - Number(sentAt[index]));
      expect(gaps).toEqual([10_000, 1000, 1000, 1000]);
    });

    it('goes on when the clock is set back', async () => {
      const { time, start } = setUp({ rows: rowsOf(4) });
      let elapsed = 0;
      const sleep = (ms: number, signal: AbortSignal) => {
        elapsed += ms;
        return time.sleep(ms, signal);
      };
      let count = 0;
      for await (const _ of start({ sleep })) if (++count === 2) time.set(time.now() - 3_600_000);
      expect(elapsed).toBeLessThan(6_000);
    });
  });

  describe('when it is stopped or paused,', () => {
    it('finishes what is under way and begins nothing more', async () => {
      const { start, run, messenger } = setUp({ rows: rowsOf(10) });
      const stopped = start();
      const results = [];
      for await (const result of stopped) {
        results.push(result);
        if (results.length === 3) stopped.stop();
      }
      expect(states(results)).toEqual(['sent', 'sent', 'sent']);
      expect(states(await run())).toEqual(Array(10).fill('sent'));
      expect(messenger.sent.length).toBe(10);
    });

    it('does the same for a signal, and throws its reason', async () => {
      const { start } = setUp({ rows: rowsOf(10) });
      const controller = new AbortController();
      const reason = new Error('Enough.');
      const run = start({ signal: controller.signal });
      const results: BulkResult[] = [];
      const ended = (async () => {
        for await (const result of run) {
          results.push(result);
          controller.abort(reason);
        }
      })();
      await expect(ended).rejects.toBe(reason);
      expect(states(results)).toEqual(['sent']);
    });

    it('lets go of a signal that outlives it', async () => {
      const { signal } = new AbortController();
      await setUp().run({ signal });
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    });

    it('waits until what is under way is settled when the loop is left, and begins nothing more', async () => {
      const { start, run, time } = setUp({ rows: rowsOf(10), concurrency: 4, messagesPerSecond: 1000 });
      const lasting = [100, 99, 98, 500];
      let calls = 0;
      const messenger = {
        async sendMessage() {
          await time.sleep(lasting[calls++] ?? 1, never);
          return {} as never;
        },
      };
      for await (const _ of start({ messenger })) break;
      expect(calls).toBe(4);
      const results = await run();
      expect(states(results)).toEqual(Array(10).fill('sent'));
      expect(results.filter(({ replayed }) => replayed).length).toBe(4);
    });

    it('goes no further than its results are read', async () => {
      const { start, messenger, time } = setUp({ rows: rowsOf(100) });
      const results = start()[Symbol.asyncIterator]();
      await results.next();
      await time.sleep(60_000, never);
      expect(messenger.calls).toBe(2);
      await results.return?.();
    });

    it('asks the rows for one after another, however many are sent at once', async () => {
      const { run } = setUp({ concurrency: 5 });
      let left = 20;
      let isAsked = false;
      const rows = {
        [Symbol.asyncIterator]: () => ({
          async next() {
            if (isAsked) throw new Error('Asked twice.');
            isAsked = true;
            await nextTurn();
            isAsked = false;
            const value = { to_phone: phone(left), message: 'Hello' };
            return left-- > 0 ? { done: false as const, value } : { done: true as const, value: undefined };
          },
        }),
      };
      expect(states(await run({ rows, messagesPerSecond: 1000 }))).toEqual(Array(20).fill('sent'));
    });

    it('stops although its source hangs', async () => {
      const { start } = setUp();
      async function* rows() {
        yield* rowsOf(1);
        await new Promise(() => {});
      }
      const run = start({ rows: rows() });
      for await (const _ of run) run.stop();
    });

    it('begins nothing from pause until resume', async () => {
      const { start, messenger, time } = setUp({ rows: rowsOf(5) });
      const run = start();
      const results = [];
      for await (const result of run) {
        results.push(result);
        if (results.length !== 2) continue;
        run.pause();
        expect(run.progress.isPaused).toBe(true);
        await time.sleep(60_000, never);
        expect(messenger.calls).toBe(2);
        run.resume();
        expect(run.progress.isPaused).toBe(false);
      }
      expect(messenger.calls).toBe(5);
    });

    it('begins nothing in a second pause, however short the time between', async () => {
      const { start, messenger, time } = setUp({ rows: rowsOf(5) });
      const run = start();
      let results = 0;
      for await (const _ of run) {
        if (++results !== 2) continue;
        run.pause();
        await time.sleep(5_000, never);
        run.resume();
        run.pause();
        await time.sleep(5_000, never);
        expect(messenger.calls).toBe(2);
        run.resume();
      }
      expect(messenger.calls).toBe(5);
    });

    it('keeps its pace after a pause, also with several messages at once', async () => {
      const { start, messenger, time } = setUp({ rows: rowsOf(9), concurrency: 4 });
      const run = start();
      let results = 0;
      for await (const _ of run) {
        if (++results !== 2) continue;
        run.pause();
        const { calls } = messenger;
        await time.sleep(60_000, never);
        // Not even those that were waiting for their turn when the pause began.
        expect(messenger.calls).toBe(calls);
        run.resume();
      }
      const times = messenger.sent.map(({ at }) => at);
      const gaps = times.slice(1).map((at, index) => at - Number(times[index]));
      expect(Math.min(...gaps)).toBe(1000);
    });

    it.each(['rows are left', 'its source hangs'])('stops while it is paused and %s', async (case_) => {
      const { start, time } = setUp();
      async function* rows() {
        yield* rowsOf(1);
        if (case_ === 'its source hangs') await new Promise(() => {});
        yield* rowsOf(6).slice(1);
      }
      const run = start({ rows: rows() });
      for await (const _ of run) {
        run.pause();
        // By now the worker waits for the end of the pause.
        time.sleep(5000, never).then(run.stop);
      }
      expect(run.progress.done).toBe(1);
    });
  });

  it('makes one warning of an onProgress that throws or rejects, and goes on', async () => {
    const failure = new Error('It failed.');
    const hooks: BulkOptions['onProgress'][] = [
      () => {
        throw failure;
      },
      async () => {
        throw failure;
      },
    ];
    const warnings = await warningsDuring(async () => {
      for (const onProgress of hooks)
        expect(states(await setUp().run({ onProgress }))).toEqual(['sent', 'sent', 'sent']);
    });
    expect(warnings.map(({ message }) => message)).toEqual(['onProgress failed; nothing else is affected.']);
  });

  it('counts, and tells the rate and the time left', async () => {
    const seen: unknown[] = [];
    const { start } = setUp({ rows: rowsOf(21) });
    const run = start({ onProgress: (progress) => seen.push(progress) });
    await collect(run);
    expect(seen.length).toBeGreaterThan(15);
    expect(seen[9]).toMatchObject({ sent: 11, done: 11, total: 21 });
    expect(Number(run.progress.perSecond)).toBeCloseTo(21 / 20);
    expect(run.progress).toMatchObject({ sent: 21, done: 21, remainingMs: 0, replayed: 0 });
    expect(seen.at(-1)).toEqual(run.progress);
  });

  it('tells the progress also after the clock was set back', async () => {
    const seen: number[] = [];
    const { start, time } = setUp({ rows: rowsOf(10) });
    const run = start({ onProgress: ({ done }) => seen.push(done) });
    for await (const { key } of run) if (key === '3') time.set(time.now() - 3_600_000);
    expect(seen.length).toBeGreaterThan(7);
  });

  it('checks rows in a dry run, and sends and stores nothing', async () => {
    const { run, messenger, store } = setUp();
    const rows = [
      ...rowsOf(2),
      { to_phone: '+2348012345000', message: 'again' },
      { to_phone: 'x', message: 'y' },
    ];
    expect(states(await run({ rows, dryRun: true }))).toEqual([
      'not-sent',
      'not-sent',
      'duplicate',
      'invalid',
    ]);
    expect(messenger.calls).toBe(0);
    expect(await store.list({ prefix: '', limit: 10 })).toEqual([]);
    await run({ rows: rowsOf(1) });
    expect(states(await run({ rows, dryRun: true }))).toEqual(['sent', 'not-sent', 'duplicate', 'invalid']);
  });

  it('forgets the claim of a dead process rememberMs after its lease, and no earlier', async () => {
    const { run, die, store, time, messenger } = setUp({ rows: rowsOf(1), rememberMs: 1000 });
    await die();
    expect(await store.list({ prefix: '', limit: 2 })).toMatchObject([{ value: { state: 'claimed' } }]);
    time.set(time.now() + 2000);
    // It may have been sent.
    expect(states(await run())).toEqual(['unknown']);
    expect(messenger.calls).toBe(0);
    time.set(time.now() + 1000);
    expect(await store.list({ prefix: '', limit: 2 })).toEqual([]);
  });

  it('forgets numbers after rememberMs, and otherwise never', async () => {
    const { run, time, messenger } = setUp({ rows: rowsOf(1) });
    await run({ rememberMs: 1000 });
    time.set(time.now() + 1000);
    await run();
    time.set(time.now() + 10 * 365 * 86_400_000);
    await run();
    expect(messenger.calls).toBe(2);
  });

  it('takes a clock with fractions', async () => {
    const { run, time } = setUp({ rememberMs: 1000 });
    expect(states(await run({ now: () => time.now() + 0.5 }))).toEqual(['sent', 'sent', 'sent']);
  });

  it('shows nobody that two campaigns are for the same number', async () => {
    const { run, store } = setUp({ rows: rowsOf(1) });
    for (const campaign of ['spring', 'autumn']) await run({ campaign });
    const digests = (await store.list({ prefix: '', limit: 3 })).map(({ key }) => key.split('/').at(-1));
    expect(new Set(digests).size).toBe(2);
  });

  it('keeps no number and no text in the store', async () => {
    const { run, store } = setUp();
    await run({ messenger: device([lost, notOnMessenger]) });
    const text = JSON.stringify(await store.list({ prefix: '', limit: 10 }));
    expect(text).not.toMatch(/8012345|Hello/);
    expect(text).toMatch(/^\[{"key":"bulk\//);
  });

  it.each([
    [{ campaign: '' }],
    // All lone surrogates are the same bytes in UTF-8: two such campaigns would be one.
    [{ campaign: 'spring \ud800' }],
    [{ messenger: [] }],
    [{ messenger: {} }],
    [{ rows: 5 }],
    [{ messagesPerSecond: 0 }],
    [{ messagesPerSecond: Number.NaN }],
    [{ concurrency: 0 }],
    [{ repeat: ['sent'] }],
    [{ country: 'Nigeria' }],
    [{ messagesPerSec: 1 }],
    [{ dryRun: 'no' }],
    [{ signal: {} }],
    [{ store: {} }],
  ])('refuses %j', (unsound) => {
    // Sound: the point is what the types refuse.
    expect(refusal(() => setUp().start(unsound as never))).toBe('ConfigurationError invalid_option');
  });
});

/** A store whose nth transaction fails without doing anything. */
function failing(store: RecordStore, nth: number): RecordStore {
  let transactions = 0;
  return {
    ...store,
    async transact(keys, change) {
      if (++transactions === nth) throw new StoreError('store_failed', 'The store is away.');
      return await store.transact(keys, change);
    },
  };
}
