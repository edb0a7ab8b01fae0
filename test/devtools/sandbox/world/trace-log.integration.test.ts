import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import { createTraceLog } from '../../../../src/devtools/sandbox/world/trace.ts';
import { lines } from '../lines.ts';
import { bearer, callback, callbackUrl, onboarded, order, place, post } from '../support.ts';

describe.each(lines)('the trace, over %s', (_, connect) => {
  it('has every request, reply, event and fault in order, as they went over the wire', async () => {
    const sandbox = createSandbox({ fetch: callback(202).fetch });
    const line = await connect(sandbox);
    const credentials = await onboarded(sandbox, line);
    sandbox.trace.clear();
    sandbox.faults.plan('createOrder', { kind: 'server_error', status: 503, when: 'after' });
    const response = await place(line, credentials);
    await sandbox.idle();
    const [request, fault, ...rest] = sandbox.trace.entries;
    const replied = rest.find(({ kind }) => kind === 'reply');
    const [event, answered] = rest.filter(({ kind }) => kind !== 'reply');
    expect(request).toMatchObject({
      kind: 'request',
      operation: 'createOrder',
      method: 'POST',
      url: (line.deployment.onboardingBaseUrl ?? '') + line.deployment.paths.createOrder,
      order: 'A-1',
      headers: { authorization: bearer(credentials), 'content-type': 'application/json' },
      faults: [],
    });
    expect(JSON.parse(request?.body ?? '')).toMatchObject(order);
    expect(fault).toMatchObject({ kind: 'fault', faults: ['server_error'], exchange: request?.id });
    expect(replied).toMatchObject({ status: 503, faults: ['server_error'], exchange: request?.id });
    expect(replied?.body).toBe(await response.text());
    expect(event).toMatchObject({
      kind: 'event',
      event: 'event.buy.init',
      delivery: sandbox.deliveries[0]?.id,
      url: callbackUrl,
      order: 'A-1',
      body: sandbox.deliveries[0]?.body,
    });
    expect(answered).toMatchObject({ kind: 'event_reply', status: 202, exchange: event?.id });
    const ids = sandbox.trace.entries.map(({ id }) => id);
    expect(ids).toEqual(ids.map((_id, index) => (ids[0] ?? 0) + index));
  });

  it('shows no reply of a connection that broke, and where there is no operation none', async () => {
    const sandbox = createSandbox();
    const line = await connect(sandbox);
    sandbox.faults.plan('whitelistIp', { kind: 'reset', when: 'after' });
    await expect(post(line, 'whitelistIp', 'any')).rejects.toThrow();
    await line.fetch(`${new URL(line.deployment.stagingUrl ?? '').origin}/nowhere`);
    const replies = [...sandbox.trace].filter(({ kind }) => kind === 'reply');
    expect(
      replies.map(({ operation, status, body, faults }) => [
        operation,
        status,
        body === undefined,
        ...faults,
      ]),
    ).toEqual([
      ['whitelistIp', undefined, true, 'reset'],
      [undefined, 404, false],
    ]);
  });
});

describe('a trace', () => {
  const log = (maxEntries: number) => createTraceLog({ now: () => 0, maxEntries, seed: 's' });
  const facts = { kind: 'request' } as const;

  it('keeps the last entries, as many as it is told, over many times that', () => {
    const { add, view } = log(10);
    for (let index = 0; index < 5000; index++) add(facts);
    expect(view.entries.map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, at) => 4991 + at));
    expect(view.forgotten).toBe(4990);
  });

  it('keeps at most 64 MiB of text, but always the last entry', () => {
    const { add, view } = log(1000);
    for (let index = 0; index < 5; index++) add({ ...facts, body: 'x'.repeat(20 * 1024 * 1024) });
    expect(view.entries).toHaveLength(3);
    add({ ...facts, body: 'x'.repeat(70 * 1024 * 1024) });
    expect(view.entries.map(({ id }) => id)).toEqual([6]);
  });

  it('tells a listener of each entry until it ends that', () => {
    const { add, view } = log(10);
    const seen: number[] = [];
    const end = view.subscribe(({ id }) => seen.push(id));
    add(facts);
    end();
    add(facts);
    expect(seen).toEqual([1]);
  });

  it('is text with the seed, without headers and bodies, which no order id can break, colour or continue', () => {
    const { add, view } = log(10);
    const order = 'A\u001b[2J-1\n#9 reply 200\u202e';
    add({ ...facts, operation: 'createOrder', order, headers: { authorization: 'secret' }, body: 'secret' });
    add({ kind: 'reply', exchange: 1, status: 500, faults: ['server_error'], note: 'E\u009b31mRR\r' });
    const last = '#2 reply of #1 500 fault server_error E\\u009b31mRR';
    const first = '#1 request createOrder order A\\u001b[2J-1 #9 reply 200\\u202e';
    expect(view.text()).toBe(`sandbox seed s\n${first}\n${last}`);
    expect(view.text({ last: 1 })).toBe(`sandbox seed s\n${last}`);
  });
});
