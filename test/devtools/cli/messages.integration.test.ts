import { expect, it } from 'vitest';
import { CliError } from '../../../src/devtools/cli/terminal/context.ts';
import { describeFailure } from '../../../src/devtools/cli/terminal/failure-line.ts';
import { freePort } from '../../support/free-port.ts';
import { partnerExchange } from './run-in-process.ts';
import { filesIn, keys, order, scratchFolder, start } from './support.ts';

const to = ['--to', 'http://127.0.0.1:1/'];

it.each<[words: string[], message: string]>([
  [
    ['sandbox', 'list'],
    'There is no such command. Options begin with two hyphens, such as --format. The commands of sandbox are start,',
  ],
  [['sandbox', 'advnce'], 'There is no command `advnce`: did you mean `advance`?'],
  [['keys', 'show'], 'The commands of keys are request, receive, promote, status.'],
  [
    ['sandbox', 'advance', 'A-1', 'creditd'],
    'third_party_error, credited, refunded: did you mean credited? Add',
  ],
  [['sandbox', '--format', 'jsn'], '--format must be text or json: did you mean json? Add'],
  [['trigger', 'event.buy.close', ...to], ': did you mean buy.event.close? Add'],
  [['trigger', 'buy.credited.crypto', ...to], ': did you mean event.buy.credited.crypto? Add'],
])('%j says what was probably meant', async (words, message) => {
  const { code, stderr } = await partnerExchange(words, { env: keys });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
});

it('a wrong value that is near nothing is not repeated, and nothing is proposed', async () => {
  const { stderr } = await partnerExchange(['sandbox', 'advance', 'A-1', 'sk_partner_abcdef']);
  expect(stderr).toContain('credited, refunded. Add --help');
  expect(stderr).not.toContain('abcdef');
});

it('an order that is spelled almost so is proposed, and a used-up link says what to do', async () => {
  const env = { XDG_STATE_HOME: scratchFolder() };
  const sandbox = start(['sandbox', '--port', '0', '--format', 'json'], { env, now: Date.now, fetch });
  const [first = ''] = (await sandbox.printed('stdout', /\n/)).split('\n');
  const { environment, url } = JSON.parse(first);
  const run = (words: string[], stdin?: string) =>
    partnerExchange(words, {
      env: { ...env, ...environment },
      cwd: env.XDG_STATE_HOME,
      fetch,
      ...(stdin !== undefined && { stdin }),
    });
  const body = { ...order, partner_order_id: 'A-1001', partner_callback_url: 'http://127.0.0.1:1/' };
  await run(['order', 'create', '--journal', 'orders.sqlite', '--yes'], JSON.stringify(body));
  const { stderr } = await run(['sandbox', 'advance', 'A-1010', 'credited']);
  expect(stderr).toContain('did you mean "A-1001"?');
  await run(['onboard', '--partner-code', 'acme', '--email', 'dev@acme.example']);
  const [, link = ''] = /for acme: (http\S+)/.exec(await sandbox.printed('stderr', /for acme: \S+/)) ?? [];
  await fetch(link);
  const used = await (await fetch(link)).json();
  expect(used).toMatchObject({ error: 'link_used', message: expect.stringContaining('regenerateKeys') });
  expect(link).toContain(url);
});

it('trigger to a port where nobody listens says so, and not to look at a log', async () => {
  const host = `127.0.0.1:${await freePort()}`;
  const { code, stderr } = await partnerExchange(
    ['trigger', 'event.buy.init', '--to', `http://${host}/orders`],
    {
      env: keys,
      now: Date.now,
    },
  );
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `Nothing listens at ${host} (ECONNREFUSED): start your receiver, or check --to.\n`,
  });
});

it('order create says that the folder of its journal is missing', async () => {
  const { stderr } = await partnerExchange(
    ['order', 'create', '--journal', 'missing/orders.sqlite', '--yes'],
    {
      env: {
        ...keys,
        PARTNER_EXCHANGE_ONBOARDING_BASE_URL: 'https://service.example',
      },
      cwd: filesIn({}),
      stdin: JSON.stringify(order),
      now: Date.now,
    },
  );
  expect(stderr).toMatch(/The folder of the database file does not exist\. Make it, or correct the path\./);
});

it('a folder that is missing, and a file system that is read-only, are said of any file', () => {
  const failure = (code: string, path: string) =>
    describeFailure(Object.assign(new Error(`${code}: x, open '${path}'`), { code, path })).message;
  expect(failure('ENOENT', '/no/such/folder/reply.json')).toBe(
    'There is no folder /no/such/folder: make it, or check the path.',
  );
  expect(failure('ENOENT', 'reply.json')).toBe('There is no reply.json: check the path.');
  expect(failure('EROFS', '/ro/reply.json')).toBe(
    '/ro/reply.json cannot be written, its file system is read-only: name another one.',
  );
  expect(describeFailure(new CliError('x'))).toMatchObject({ message: 'x' });
});
