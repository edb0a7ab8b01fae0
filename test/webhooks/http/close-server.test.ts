import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ClosableServer,
  type CloseServerOptions,
  closeServer,
} from '../../../src/webhooks/close-server.ts';
import { warningsDuring } from '../warnings.ts';

beforeEach(
  () =>
    void vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'performance'],
    }),
);
// No process begins at 0.
beforeEach(() => void vi.advanceTimersByTime(1_234));
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A server whose connections end when a test says so, and when its idle ones were closed. */
function open(options: CloseServerOptions = {}) {
  const calls: string[] = [];
  const idleClosedAt: number[] = [];
  const begun = performance.now();
  let end = () => {};
  const events = new EventEmitter();
  const server: ClosableServer = {
    close(callback) {
      end = callback;
      // As Node's own does.
      server.closeIdleConnections?.();
    },
    prependListener: (name, listener) => events.prependListener(name, listener),
    closeIdleConnections: () => void idleClosedAt.push(performance.now() - begun),
    closeAllConnections: () => void calls.push('all connections closed'),
  };
  let result = 'not ended';
  const closing = closeServer(server, options).then((ended) => {
    result = ended;
  });
  return {
    calls,
    idleClosedAt,
    closing,
    result: () => result,
    end: () => end(),
    request: (request: object, response: object) => events.emit('request', request, response),
  };
}

describe('idle connections', () => {
  it.each([
    ['half a second', 60_000, [501, 551]],
    ['a quarter of the time where that is shorter', 400, [101, 151]],
  ])('are closed after %s, not at once', async (_, timeoutMs, expected) => {
    const { idleClosedAt, end, closing } = open({ timeoutMs });
    await pass(expected[1] ?? 0);
    await pass(1);
    expect(idleClosedAt).toEqual(expected);
    end();
    await closing;
  });
});

describe('an answer', () => {
  it.each<[string, { headersSent: boolean }, string[]]>([
    ['says that it is the last on its connection', { headersSent: false }, ['connection: close']],
    ['that has begun is left as it is', { headersSent: true }, []],
  ])('%s', async (_, state, expected) => {
    const { request, end, closing } = open();
    const set: string[] = [];
    request({}, { ...state, setHeader: (name: string, value: string) => set.push(`${name}: ${value}`) });
    expect(set).toEqual(expected);
    end();
    await closing;
  });
});

describe('the time', () => {
  it('is for the connections alone without an inbox', async () => {
    const { calls, result } = open();
    await pass(9_999);
    expect([calls, result()]).toEqual([[], 'not ended']);
    const warnings = await warningsDuring(() => pass(1));
    expect([calls, result()]).toEqual([['all connections closed'], 'cut-off']);
    expect(warnings.map(({ message }) => message)).toEqual([
      'closeServer has cut off connections that did not end within its time (timeoutMs 10000).',
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is halved with an inbox, which gets what is left, also after connections were cut off', async () => {
    const stop = vi.fn(async () => 'drained');
    const { calls, result } = open({ timeoutMs: 1_000, inbox: { stop } });
    await pass(499);
    expect(calls).toEqual([]);
    await warningsDuring(() => pass(1));
    expect([calls, result()]).toEqual([['all connections closed'], 'cut-off']);
    expect(stop.mock.calls).toEqual([[{ timeoutMs: 500 }]]);
  });

  it('that connections did not need is for the handlers of the inbox', async () => {
    const stop = vi.fn(async () => 'cut-off');
    const { calls, end, closing, result } = open({ timeoutMs: 5_000, inbox: { stop } });
    await pass(1_210);
    const warnings = await warningsDuring(() => {
      end();
      return closing;
    });
    expect(stop.mock.calls).toEqual([[{ timeoutMs: 3_790 }]]);
    expect([calls, result()]).toEqual([[], 'cut-off']);
    expect(String(warnings)).toContain('handlers of the inbox');
    expect(vi.getTimerCount()).toBe(0);
  });
});

const http2Server = { close: () => {}, prependListener: () => {} };
const noServer = { ...http2Server, closeIdleConnections: () => {} };

it.each<[string, unknown, object, RegExp]>([
  ['no server', undefined, {}, /server\.close/],
  ['a server of HTTP/2', http2Server, {}, /server\.closeIdleConnections/],
  ['a misspelt option', noServer, { timeLimitMs: 5 }, /"timeLimitMs" is not an option of closeServer/],
  ['an inbox that cannot be stopped', noServer, { inbox: {} }, /inbox\.stop/],
])('refuses %s', async (_, server, options, message) => {
  await expect(Reflect.apply(closeServer, undefined, [server, options])).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringMatching(message),
  });
});
