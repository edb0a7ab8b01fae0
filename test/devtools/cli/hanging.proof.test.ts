import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startHangingServer } from '../../support/local-server.ts';
import { startChild } from './child.ts';
import { partnerExchange } from './run-in-process.ts';
import { filesIn, keys, keysFile, order, start } from './support.ts';

/** Starts Node, on a machine that may be busy. */
const patient = { timeout: 60_000 };

const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n';

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

/** What a command may take to end: a second, and what a busy machine adds. What waits for a time-out takes 30 s. */
const soonMs = 10_000;

describe('a server that hangs', () => {
  it(
    'before, in and after the head, has a command end soon after it has told of the time-out',
    patient,
    async () => {
      // The 30 s of a time-out are half a second.
      const hurry = 'const wait = setTimeout; globalThis.setTimeout = (run, ms) => wait(run, ms / 60);';
      const cwd = filesIn({ 'hurry.mjs': hurry });
      const endings = ['', head, `${head}\r\n{`].map(async (reply) => {
        const server = await startHangingServer(reply);
        const env = { ...environment(server.url), NODE_OPTIONS: `--import=${join(cwd, 'hurry.mjs')}` };
        const command = startChild(onboard, { env });
        await command.printed('stderr', /no reply came in time/);
        const ms = await timeOf(command.ended);
        return { isSoon: ms < soonMs, code: (await command.ended).code };
      });
      const expected = { isSoon: true, code: 3 };
      expect(await Promise.all(endings)).toEqual([expected, expected, expected]);
    },
  );

  const commands = [
    ['order', 'create', 'order.json', '--journal', 'orders.sqlite', '--yes'],
    ['keys', 'request', '--keys', 'keys.sqlite', '--email', 'dev@acme.example'],
    ['trigger', 'event.buy.init', '--to', 'URL'],
    ['attack', 'URL'],
    ['doctor'],
  ].map((words) => ({ name: words.join(' '), words }));

  it.each(commands)('has Ctrl-C end a command at once: $name', patient, async ({ words }) => {
    const server = await startHangingServer('');
    const cwd = filesIn({ 'order.json': JSON.stringify(order), 'message.txt': 'Hello' });
    await partnerExchange(['keys', 'receive', '--keys', 'keys.sqlite'], {
      cwd,
      stdin: JSON.stringify({ ...keysFile, partnerCode: 'acme' }),
    });
    const args = words.map((word) => (word === 'URL' ? server.url : word));
    const command = start(args, { cwd, env: environment(server.url), fetch });
    await server.received;
    const stopped = command.stop();
    expect(await timeOf(stopped)).toBeLessThan(soonMs);
    expect([3, 130]).toContain((await stopped).code);
  });

  it.skipIf(process.platform === 'win32')(
    'has Ctrl-C end the process at once, with a word',
    patient,
    async () => {
      const server = await startHangingServer('');
      const command = startChild(onboard, { env: environment(server.url) });
      await server.received;
      command.process.kill('SIGINT');
      expect(await timeOf(command.ended)).toBeLessThan(soonMs);
      const { code, stderr } = await command.ended;
      expect(code).toBe(3);
      expect(stderr).toMatch(/^Stopping\. Ctrl-C again ends at once\.$/m);
    },
  );
});

it('a command ends with its result, whatever is still under way', patient, async () => {
  // The server keeps the connection open after its reply.
  const server = await startHangingServer(`${head}\r\n{"a":"b"}`);
  const cwd = filesIn({ 'open.mjs': 'setInterval(() => {}, 1_000);' });
  const env = { ...environment(server.url), NODE_OPTIONS: `--import=${join(cwd, 'open.mjs')}` };
  const command = startChild(onboard, { env });
  await command.printed('stdout', /accepted/);
  expect(await timeOf(command.ended)).toBeLessThan(soonMs);
  expect((await command.ended).code).toBe(0);
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
