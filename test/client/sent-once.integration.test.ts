import { describe, expect, it, onTestFinished } from 'vitest';
import { nextTurn } from '../support/next-turn.ts';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.ts';
import { sentOnceCases } from '../support/sent-once.ts';
import { cautious, createOrder, exchangeAt, order, requestError } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

describe.each(sentOnceCases)('$behaviour', ({ behaviour, outcomes, status, large }) => {
  it.each([
    ['a new connection', false],
    ['a connection that was used before', true],
  ])('on %s: an order is sent once, and the outcome is true', async (_, reused) => {
    const server = await recordingServer();
    if (reused) await use(server);
    const note = large ? { note: 'x'.repeat(1_000_000) } : {};
    const call = exchangeAt(`${server.url}/${behaviour}/it`).createOrder({ ...order, ...note });
    const result = await resultOf(call);
    expect(outcomes).toContain(result.outcome);
    expect([result.status, result.attempts]).toEqual([status, 1]);
    expect(requestsOf(server)).toHaveLength(1);
    expect(requestsOf(server)[0]?.reusedConnection).toBe(reused);
  });
});

describe.each(cautious)('%s', (_, run) => {
  it('is sent once when the answer is 421', async () => {
    const server = await recordingServer();
    const result = await resultOf(run(`${server.url}/answer-421/it`));
    expect(result).toEqual({ outcome: 'refused', status: 421, attempts: 1 });
    expect(requestsOf(server)).toHaveLength(1);
  });
});

it('an order answered 421 by a service that then is gone is refused, never "not-sent"', async () => {
  const server = await recordingServer();
  const call = createOrder(`${server.url}/answer-421-and-refuse-connections/it`);
  expect(await resultOf(call)).toEqual({ outcome: 'refused', status: 421, attempts: 1 });
  expect(requestsOf(server)).toHaveLength(1);
});

it('an order whose idle connection is closed as it leaves is sent once at most', async () => {
  const server = await recordingServer();
  for (let round = 0; round < 30; round++) {
    await (await fetch(`${server.url}/answer-200-then-close/use`)).text();
    const { outcome } = await resultOf(createOrder(`${server.url}/answer-200/${round}`));
    const sent = requestsOf(server, String(round)).length;
    expect(sent).toBeLessThanOrEqual(1);
    expect(outcome).toBe(sent === 1 ? 'done' : 'unknown');
  }
});

async function recordingServer(): Promise<RecordingServer> {
  const server = await startRecordingServer();
  onTestFinished(() => server.close());
  return server;
}

/** Leaves a connection to the server in the pool. */
async function use(server: RecordingServer): Promise<void> {
  await (await fetch(`${server.url}/answer-200/use`)).text();
  // It is put back once the platform is done with the response.
  await nextTurn();
}

function requestsOf(server: RecordingServer, id = 'it') {
  return server.requests.filter((request) => request.id === id);
}

async function resultOf(call: Promise<unknown>) {
  const done = { outcome: 'done', status: undefined, attempts: 1 };
  const error = await call.then(
    () => undefined,
    (reason: unknown) => requestError(Promise.reject(reason)),
  );
  return error === undefined
    ? done
    : { outcome: error.outcome, status: error.status, attempts: error.attempts };
}
