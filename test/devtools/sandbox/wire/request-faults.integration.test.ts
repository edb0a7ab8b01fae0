import { describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../../../src/client/exchange-client.ts';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import type { Sandbox } from '../../../../src/devtools/sandbox/sandbox.ts';
import {
  type RequestFault,
  type RequestFaultName,
  requestFaults,
} from '../../../../src/devtools/sandbox/settings/faults.ts';
import { isRequestError } from '../../../../src/errors/errors.ts';
import { nextTurn } from '../../../support/next-turn.ts';
import { lines } from '../lines.ts';
import { callback, type Line, onboarded, order, partner, post } from '../support.ts';

/** What the SDK makes of a fault, and how many orders the service then has. */
const cases: [string, RequestFaultName | RequestFault, string, number][] = [
  ['reset', 'reset', 'network_error unknown', 0],
  ['reset after the effect', { kind: 'reset', when: 'after' }, 'network_error unknown', 1],
  ['reply_lost', 'reply_lost', 'network_error unknown', 1],
  ['stall', 'stall', 'timeout unknown', 0],
  ['trickle', { kind: 'trickle', bytes: 300, delayMs: 1 }, 'ok object', 1],
  ['truncate', 'truncate', 'network_error unknown', 1],
  ['truncate to nothing', { kind: 'truncate', bytes: 0 }, 'network_error unknown', 1],
  ['too_many_requests', { kind: 'too_many_requests', retryAfterSeconds: 7 }, 'http_error refused 7000', 0],
  ['server_error', 'server_error', 'http_error unknown', 0],
  ['redirect', 'redirect', 'redirected refused', 0],
  ['redirect after the effect', { kind: 'redirect', status: 303, when: 'after' }, 'redirected unknown', 1],
  ['html', 'html', 'http_error unknown', 0],
  ['html that says 200', { kind: 'html', status: 200, when: 'after' }, 'reply_not_accepted unknown', 1],
  ['misdirected', 'misdirected', 'http_error refused', 0],
  ['ok_with_error', 'ok_with_error', 'reply_not_accepted unknown', 0],
  ['wrong_content_type', 'wrong_content_type', 'ok object', 1],
  ['gzip', 'gzip', 'ok object', 1],
  ['other_status', { kind: 'other_status', status: 202 }, 'ok object', 1],
  ['other_status without a body', { kind: 'other_status', status: 204 }, 'reply_not_accepted unknown', 1],
  ['other_reply in a wrapper', { kind: 'other_reply', form: 'wrapped' }, 'ok object', 1],
  ['conflict', { kind: 'conflict', status: 400 }, 'http_error refused', 0],
  ['conflict after the effect', { kind: 'conflict', when: 'after', status: 422 }, 'http_error refused', 1],
];

async function client(sandbox: Sandbox, line: Line): Promise<ExchangeClient> {
  const credentials = await onboarded(sandbox, line);
  const { deployment } = line;
  // Sound: both lines have the sandbox's own deployment, whose orders are the reported ones.
  const typed = deployment as Sandbox['deployment'];
  return new ExchangeClient({
    deployment: typed,
    credentials,
    fetch: line.fetch,
    maxAttempts: 1,
    timeoutMs: 10_000,
  });
}

/** The code, outcome and Retry-After of a failed call, or the type of the body of one that did not fail. */
async function outcomeOf(call: Promise<{ body: unknown }>): Promise<string> {
  try {
    return `ok ${typeof (await call).body}`;
  } catch (error) {
    if (!isRequestError(error)) throw error;
    const { code, outcome, retryAfterMs } = error;
    return [code, outcome, ...(retryAfterMs === undefined ? [] : [retryAfterMs])].join(' ');
  }
}

describe.each(lines)('an order, over %s', (_, connect) => {
  it.each(cases)('under %s', async (_name, fault, expected, orders) => {
    const sandbox = createSandbox({ fetch: callback().fetch });
    const exchange = await client(sandbox, await connect(sandbox));
    sandbox.faults.plan('createOrder', fault);
    // Short where it runs out.
    const timeoutMs = expected.startsWith('timeout') ? 1_000 : 10_000;
    expect(await outcomeOf(exchange.createOrder(order, { timeoutMs }))).toBe(expected);
    expect(sandbox.orders).toHaveLength(orders);
    // Nothing below the client has sent it twice, and the fault was for one request only.
    expect(sandbox.trace.entries.filter((entry) => entry.operation === 'createOrder')).toHaveLength(3);
    const second = await exchange.createOrder({ ...order, partner_order_id: 'A-2' });
    expect(second.body).toMatchObject({ partner_order_id: 'A-2' });
    await sandbox.idle();
    expect(sandbox.deliveries.every(({ acknowledged }) => acknowledged)).toBe(true);
  });

  it.each([
    ['reset', 'fetch failed', 'ECONNRESET'],
    ['reply_lost', 'fetch failed', 'UND_ERR_SOCKET'],
    ['truncate', 'terminated', 'UND_ERR_SOCKET'],
  ] as const)('under %s fails as Node says it: %s, %s', async (fault, message, code) => {
    const sandbox = createSandbox();
    const line = await connect(sandbox);
    sandbox.faults.plan('onboard', fault);
    const reading = post(line, 'onboard', partner).then((response) => response.text());
    await expect(reading).rejects.toMatchObject({ name: 'TypeError', message, cause: { code } });
  });

  it('is really compressed, mislabelled, or cut after as many bytes as were asked for', async () => {
    const sandbox = createSandbox();
    const line = await connect(sandbox);
    sandbox.faults.plan('onboard', 'gzip');
    const packed = await post(line, 'onboard', partner);
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(await packed.json()).toMatchObject({ message: expect.any(String) });
    sandbox.faults.plan('whitelistIp', 'wrong_content_type');
    const labelled = await post(line, 'whitelistIp', 'any');
    expect(labelled.headers.get('content-type')).toContain('text/html');
    sandbox.faults.plan('whitelistIp', { kind: 'truncate', bytes: 7 });
    const cut = await post(line, 'whitelistIp', 'any');
    expect(Number(cut.headers.get('content-length'))).toBeGreaterThan(7);
    const { value } = (await cut.body?.getReader().read()) ?? {};
    expect(new TextDecoder().decode(value)).toBe('{"ip":"');
  });

  it('trickles on the clock of the sandbox, with a pause between two pieces', async () => {
    const sandbox = createSandbox({ clock: 'manual', now: () => 0 });
    const line = await connect(sandbox);
    sandbox.faults.plan('whitelistIp', { kind: 'trickle', bytes: 10, delayMs: 1000 });
    let text: string | undefined;
    const reading = post(line, 'whitelistIp', 'any')
      .then((response) => response.text())
      .then((body) => {
        text = body;
      });
    // Nothing but the clock moves it on.
    while (sandbox.clock.nextAt === undefined) await nextTurn();
    expect(text).toBeUndefined();
    while (text === undefined) {
      await sandbox.clock.drain();
      await nextTurn();
    }
    await reading;
    expect(JSON.parse(text)).toMatchObject({ ip: '127.0.0.1' });
    expect(sandbox.clock.now()).toBe((Math.ceil(text.length / 10) - 1) * 1000);
  });
});

it('a refusal stays as it is under other_reply, though the service answers each with 200', async () => {
  const denied = { data: { success: false }, message: 'no' };
  const sandbox = createSandbox({
    reply: (own) => (own.status > 299 ? { ...own, status: 200, body: denied } : own),
  });
  sandbox.faults.plan('createOrder', { kind: 'other_reply', form: 'wrapped' });
  const refused = await post(sandbox, 'createOrder', { ...order, signature: 'wrong' });
  expect([refused.status, await refused.json()]).toEqual([200, denied]);
});

it('every fault of a request is tried above', () => {
  const tried = cases.map(([, fault]) => (typeof fault === 'string' ? fault : fault.kind));
  expect(Object.keys(requestFaults).filter((kind) => !tried.some((one) => one === kind))).toEqual([]);
});

it('the errors of the function name the seed, as a failed test will print them', async () => {
  const sandbox = createSandbox({ seed: 'printed', fetch: callback().fetch });
  const exchange = await client(sandbox, sandbox);
  sandbox.faults.plan('createOrder', 'reset');
  await expect(exchange.createOrder(order)).rejects.toThrow('sandbox seed printed');
});
