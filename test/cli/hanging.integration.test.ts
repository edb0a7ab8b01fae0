import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startHangingServer } from '../support/local-server.ts';
import { startChild } from './child.ts';
import { filesIn, keys } from './support.ts';

/** Starts Node, on a machine that may be busy. */
const patient = { timeout: 60_000 };

const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n';
const hangs = {
  'before the head': '',
  'in the head': head,
  'in the body': `${head}\r\n{`,
} as const;

function environment(url: string) {
  return {
    ...keys,
    PARTNER_EXCHANGE_ONBOARDING_BASE_URL: url,
    PARTNER_EXCHANGE_STAGING_URL: url,
    PARTNER_EXCHANGE_MESSENGER_BASE_URL: url,
    PARTNER_EXCHANGE_PATH_CHECK_NUMBER: '/check',
    MESSENGER_API_KEY: 'API-X-of-a-device',
    MESSENGER_MASTER_KEY: 'master-of-all-devices',
  };
}

const onboard = ['onboard', '--email', 'dev@acme.example', '--partner-code', 'acme'];

/** Milliseconds that something takes. */
async function timeOf(work: Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work;
  return performance.now() - from;
}

/** What a command may take to end: a second, and what a busy machine adds. */
const soonMs = 3_000;

describe('a server that hangs', () => {
  it.each(Object.entries(hangs))(
    '%s: a command ends soon after it has told of the time-out',
    patient,
    async (_, reply) => {
      const server = await startHangingServer(reply);
      // The 30 s of a time-out are half a second.
      const hurry = 'const wait = setTimeout; globalThis.setTimeout = (run, ms) => wait(run, ms / 60);';
      const cwd = filesIn({ 'hurry.mjs': hurry });
      const env = { ...environment(server.url), NODE_OPTIONS: `--import=${join(cwd, 'hurry.mjs')}` };
      const command = startChild(onboard, { env });
      await command.printed('stderr', /no reply came in time/);
      expect(await timeOf(command.ended)).toBeLessThan(soonMs);
      expect((await command.ended).code).toBe(3);
    },
  );

  it('after its reply: a command ends soon after its result', patient, async () => {
    const server = await startHangingServer(`${head}\r\n{"a":"b"}`);
    const command = startChild(onboard, { env: environment(server.url) });
    await command.printed('stdout', /accepted/);
    expect(await timeOf(command.ended)).toBeLessThan(soonMs);
    expect((await command.ended).code).toBe(0);
  });

  const commands = [
    onboard,
    ['whitelist-ip'],
    ['messenger', 'key', '1001', '--save', 'key.json'],
    ['messenger', 'check', '+2348012345678'],
    ['messenger', 'send', '+2348012345678', 'message.txt'],
    ['order', 'create', 'order.json', '--journal', 'orders.sqlite', '--yes'],
    ['keys', 'request', '--keys', 'keys.json', '--email', 'dev@acme.example'],
    ['trigger', 'event.buy.init', '--to', 'URL'],
    ['attack', 'URL'],
    ['doctor'],
  ];
  const named = commands.map((words) => ({ name: words.join(' '), words }));

  it.skipIf(process.platform === 'win32').each(named)(
    'Ctrl-C ends at once, with a word: $name',
    patient,
    async ({ words }) => {
      const server = await startHangingServer('');
      const keyMembers = {
        partnerPublicKey: keys.PARTNER_PUBLIC_KEY,
        partnerSecretKey: keys.PARTNER_SECRET_KEY,
        merchantSecretKey: keys.MERCHANT_SECRET_KEY,
        partnerCode: 'acme',
      };
      const order = {
        partner_order_id: 'A-1',
        fiat_amount: '15000.50',
        fiat_currency: 'NGN',
        chain: 'usdt-trc20',
        buyer_crypto_address: 'TQ5NMqJjhpQGK7YJbESKfVXGnLkYbLZ1pA',
        partner_callback_url: 'https://partner.example/orders',
      };
      const cwd = filesIn({ 'order.json': JSON.stringify(order), 'message.txt': 'Hello' });
      const env = environment(server.url);
      if (words[0] === 'keys') {
        const first = startChild(['keys', 'receive', '--keys', 'keys.json'], { cwd });
        first.process.stdin?.end(JSON.stringify(keyMembers));
        await first.ended;
      }
      const args = words
        .filter((word) => word !== undefined)
        .map((word) => (word === 'URL' ? server.url : word));
      const command = startChild(args, { cwd, env });
      await server.received;
      command.process.kill('SIGINT');
      expect(await timeOf(command.ended)).toBeLessThan(soonMs);
      const { code, stderr } = await command.ended;
      expect([3, 130]).toContain(code);
      expect(stderr).toMatch(/^Stopping\. Ctrl-C again ends at once\.$/m);
    },
  );
});

it('a command ends with its result, whatever is still under way', patient, async () => {
  const cwd = filesIn({ 'open.mjs': 'setInterval(() => {}, 1_000);', 'order.json': '{"a":1}' });
  const env = { ...keys, NODE_OPTIONS: `--import=${join(cwd, 'open.mjs')}` };
  const sign = startChild(['sign', 'order.json'], { cwd, env });
  await sign.printed('stdout', /signature/);
  expect(await timeOf(sign.ended)).toBeLessThan(soonMs);
});

it('a result of megabytes is written to the end before the command ends', patient, async () => {
  const cwd = filesIn({ 'order.json': JSON.stringify({ a: 'x'.repeat(5_000_000) }) });
  const { code, stdout } = await startChild(['sign', 'order.json'], { cwd, env: keys }).ended;
  expect({ code, end: stdout.endsWith('"}'), length: stdout.length > 5_000_000 }).toEqual({
    code: 0,
    end: true,
    length: true,
  });
});
