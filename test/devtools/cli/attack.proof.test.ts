import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyBody } from '../../../src/signature/verify-body.ts';
import { orderKey } from '../../support/bodies.ts';
import { closedUrl } from '../../support/local-server.ts';
import { credentials } from '../../webhooks/deliveries.ts';
import { startReceiver } from '../diagnostics/attack/broken-receivers.ts';
import { partnerExchange, type RunOptions } from './run-in-process.ts';
import { filesIn } from './support.ts';

async function attack(url: string, more: readonly string[], options: RunOptions = {}) {
  const { partnerPublicKey, partnerSecretKey, merchantSecretKey } = credentials;
  const cwd = filesIn({
    'keys.json': JSON.stringify({ partnerPublicKey, partnerSecretKey, merchantSecretKey }),
  });
  const args = ['attack', url, '--keys', 'keys.json', ...more];
  return { cwd, ...(await partnerExchange(args, { cwd, now: Date.now, ...options })) };
}

const only = (...ids: readonly string[]) => ids.flatMap((id) => ['--only', id]);

describe('attack prints', () => {
  const cases = only('unsigned', 'key-partner-alone', 'acted-before-verification');

  it('findings, with what to do, and which cases could not be judged', async () => {
    await using receiver = await startReceiver({
      verify: (text) => verifyBody(text, { key: [orderKey, credentials.partnerSecretKey] }).value,
    });
    const { code, stdout, stderr } = await attack(receiver.url, cases);
    expect(code).toBe(1);
    expect(stdout).toBe(
      [
        'broken  verifies with the partner secret alone',
        '        Verify order events with the key that the scheme makes of both secrets (contract: Authentication 5), and with no other: one secret alone is known in more places.',
        '        shown by key-partner-alone',
        '        see docs/details/attack-faults.md#key-partner-alone',
        'skipped acted-before-verification: only your records of the orders can tell: give `handled` (--handled-command)',
        '',
      ].join('\n'),
    );
    expect(stderr).toMatch(
      /^Found: 1 broken\. Cases: 2 ok, 1 broken, 1 skipped\.\nLeft behind: events about one order of the attack, such as "probe-1-[0-9a-f]{8}", .*\n$/,
    );
  });

  it('the first five cases of a finding, and how many more there are', async () => {
    await using receiver = await startReceiver({ verify: (text) => JSON.parse(text) });
    const forged = ['unsigned', 'forged', 'altered-amount', 'signature-empty', 'key-none', 'key-public'];
    const { stdout } = await attack(receiver.url, only(...forged, 'altered-address'));
    expect(stdout).toMatch(/shown by (?:[\w-]+, ){4}[\w-]+ and 2 more \(--format json lists them\)\n/);
  });

  it('findings and every case as JSON', async () => {
    await using receiver = await startReceiver({ decode: String });
    const { stdout } = await attack(receiver.url, [...only('unsigned', 'invalid-utf-8'), '--format', 'json']);
    expect(JSON.parse(stdout)).toEqual({
      findings: [
        {
          id: 'invalid-utf-8',
          what: expect.any(String),
          verdict: 'weak',
          cases: ['invalid-utf-8'],
          advice: expect.any(String),
        },
      ],
      results: [
        expect.objectContaining({ id: 'authentic', verdict: 'ok' }),
        expect.objectContaining({ id: 'unsigned', verdict: 'ok' }),
        expect.objectContaining({ id: 'invalid-utf-8', verdict: 'weak' }),
      ],
      orders: [expect.stringMatching(/^probe-1-/)],
    });
  });
});

it('attack says that nothing listens, and ends with 2: nothing was attacked', async () => {
  const url = await closedUrl();
  const { code, stdout, stderr } = await attack(url, []);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(
    `error: Nothing listens at ${new URL(url).host} (ECONNREFUSED), so nothing was sent.`,
  );
});

describe('attack ends', { timeout: 30_000 }, () => {
  const weak = { decode: String };
  const broken = { verify: (text: string) => JSON.parse(text) };

  it.each([
    { ends: 0, failOn: [], what: 'weak', receives: weak },
    { ends: 1, failOn: ['--fail-on', 'weak'], what: 'weak', receives: weak },
    { ends: 1, failOn: [], what: 'broken', receives: broken },
  ])('with $ends if a receiver is $what, given $failOn', async ({ ends, failOn, receives }) => {
    await using receiver = await startReceiver(receives);
    const { code, stderr } = await attack(receiver.url, [...only('forged', 'invalid-utf-8'), ...failOn]);
    expect({ code, stderr }).toEqual({ code: ends, stderr: expect.stringContaining('Cases: ') });
  });
});

it('attack --order sends events that must have an effect about this order', async () => {
  const orders: unknown[] = [];
  await using receiver = await startReceiver({
    act({ event_name, partner_order_id, buyer_crypto_address }) {
      if (event_name === 'event.buy.credited.crypto') orders.push([partner_order_id, buyer_crypto_address]);
    },
  });
  const order = ['--order', 'A-1001', '--order-address', 'T-1'];
  const { code } = await attack(receiver.url, [...only('authentic-completed'), ...order]);
  expect({ code, orders }).toEqual({
    code: 0,
    orders: [
      ['A-1001', 'T-1'],
      ['A-1001', 'T-1'],
    ],
  });
});

describe('attack judges what the receiver did', () => {
  it('by --handled-command, which gets the order id in a variable, and no key', async () => {
    const cwd = filesIn({});
    const records = join(cwd, 'records');
    await using receiver = await startReceiver({
      act(event, acting) {
        acting.count(event);
        writeFileSync(`${records}-${event.partner_order_id}`, '3');
      },
    });
    // A file for each order in place of a database.
    const command = `cat "${records}-$PARTNER_ORDER_ID" 2>/dev/null || echo "\${PARTNER_SECRET_KEY:-0}"`;
    const { code, stdout } = await attack(
      receiver.url,
      [...only('repeated'), '--format', 'json', '--handled-command', command],
      { env: { PATH: process.env.PATH, PARTNER_SECRET_KEY: 'sk_partner_test1' } },
    );
    expect(code).toBe(1);
    expect(JSON.parse(stdout).findings).toMatchObject([
      { id: 'acts-again', what: 'acts again on a repeated delivery' },
    ]);
    expect(existsSync(`${records}-probe-none`)).toBe(false);
  });

  it.each([
    ['echo two', 'must print a number'],
    ['echo -1', 'must print a number'],
    ['exit 7', 'ended with 7: run it yourself with PARTNER_ORDER_ID='],
  ])('and refuses a command before it sends anything: %s', async (command, message) => {
    let received = 0;
    await using receiver = await startReceiver({ before: () => void received++ });
    const { code, stdout, stderr } = await attack(receiver.url, ['--handled-command', command], {
      env: { PATH: process.env.PATH },
    });
    expect({ code, stdout, received }).toEqual({ code: 2, stdout: '', received: 0 });
    expect(stderr).toContain(message);
  });
});
