import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startChild } from './child.ts';
import { partnerExchange } from './run-in-process.ts';
import { filesIn, keys, order, readRedirect, scratchFolder, start } from './support.ts';

const args = ['sandbox', '--port', '0', '--format', 'json'];

/** What it prints first. */
async function environmentOf(running: ReturnType<typeof start>): Promise<Record<string, string>> {
  const [first = ''] = (await running.printed('stdout', /\n/)).split('\n');
  return JSON.parse(first).environment;
}

it('sandbox --seed prints the same keys in each run', async () => {
  const printed: Record<string, string>[] = [];
  for (const seed of ['7', '7', '8']) {
    const running = start([...args, '--seed', seed], { now: Date.now });
    printed.push(await environmentOf(running));
    await running.stop();
  }
  const [first, again, other] = printed.map((environment) =>
    Object.entries(environment).filter(([name]) => /KEY|_ID$/.test(name)),
  );
  expect(first).toHaveLength(5);
  expect(again).toEqual(first);
  expect(other).not.toEqual(first);
});

it('sandbox --partner-from-env takes MESSENGER_MASTER_KEY of the environment, and prints none', async () => {
  const MESSENGER_MASTER_KEY = 'master_of_the_environment';
  const running = start([...args, '--partner-from-env'], {
    env: { ...keys, MESSENGER_MASTER_KEY },
    now: Date.now,
  });
  const printed = await environmentOf(running);
  expect(Object.keys(printed)).not.toContain('MESSENGER_MASTER_KEY');
  const env = { ...printed, MESSENGER_MASTER_KEY };
  const options = { env, cwd: scratchFolder(), fetch };
  expect(await partnerExchange(['messenger', 'key', '42', '--save', 'key.json'], options)).toMatchObject({
    code: 0,
  });
  const { stdout, stderr } = await running.stop();
  expect(stdout + stderr).not.toContain(MESSENGER_MASTER_KEY);
});

it('sandbox --partner-from-env takes the keys of the environment, and prints none', async () => {
  const running = start([...args, '--partner-from-env'], { env: keys, now: Date.now });
  const env = await environmentOf(running);
  expect(Object.keys(env).filter((name) => /PUBLIC_KEY|SECRET/.test(name))).toEqual([]);
  const create = ['order', 'create', '--journal', 'orders.sqlite', '--yes'];
  const options = {
    env: { ...keys, ...env },
    cwd: scratchFolder(),
    stdin: JSON.stringify({ ...order, partner_callback_url: 'http://127.0.0.1:1/orders' }),
    fetch,
  };
  expect(await partnerExchange(create, options)).toMatchObject({ code: 0 });
  const { stdout, stderr } = await running.stop();
  expect(stdout + stderr).not.toContain(keys.PARTNER_SECRET_KEY);
});

describe('sandbox --open', () => {
  it('starts a browser with a file that only you can read, which leads to the inspector once', async () => {
    const HOME = scratchFolder();
    const opened: string[] = [];
    const openBrowser = async (url: string) => void opened.push(url);
    const running = start([...args, '--open'], { now: Date.now, openBrowser, env: { HOME } });
    const said = await running.printed('stderr', /The inspector is at \S+/);
    const inspector = /The inspector is at (\S+)/.exec(said)?.[1] ?? '';
    await expect.poll(() => opened.length).toBe(1);
    const page = fileURLToPath(opened[0] ?? '');
    const modes = [page, dirname(page)].map((path) => statSync(path).mode & 0o777);
    if (process.platform !== 'win32') expect(modes).toEqual([0o600, 0o700]);
    const { ticket, text } = readRedirect(opened[0]);
    expect(opened[0]).not.toContain(ticket);
    expect(text).not.toContain(/#token=(.+)/.exec(inspector)?.[1]);
    const answer = await fetch(ticket, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, inspector]);
    await expect(fetch(ticket, { redirect: 'manual' })).rejects.toThrow();
    await expect.poll(() => readdirSync(HOME)).toEqual([]);
    expect((await running.stop()).code).toBe(130);
  });

  it('says what to do where there is no browser, and leaves no file', async () => {
    const HOME = scratchFolder();
    const openBrowser = () => Promise.reject(new Error('spawn xdg-open ENOENT'));
    const options = { now: Date.now, openBrowser, env: { HOME } };
    const { code, stderr } = await partnerExchange([...args, '--open'], options);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('leave --open out') });
    expect(readdirSync(HOME)).toEqual([]);
  });

  it.skipIf(process.platform !== 'linux')(
    'runs the opener of the system, which sees no key on its command line or in its environment',
    { timeout: 60_000 },
    async () => {
      const script = `#!${process.execPath}
const { readFileSync, writeFileSync } = require('node:fs');
const page = readFileSync(new URL(process.argv[2]), 'utf8');
fetch(/http:[^"]+/.exec(page)[0], { redirect: 'manual' }).then(({ headers }) =>
  writeFileSync(process.env.HOME + '/opened.json', JSON.stringify([process.argv.slice(2), process.env, headers.get('location')])));
`;
      const cwd = filesIn({ 'xdg-open': script }, 0o700);
      const HOME = scratchFolder();
      const opened = join(HOME, 'opened.json');
      const secrets = { ...keys, MESSENGER_MASTER_KEY: 'master-hidden3', AWS_SECRET_ACCESS_KEY: 'hidden4' };
      const env = { ...secrets, HOME, PATH: `${cwd}:${process.env.PATH}`, DISPLAY: ':7', LC_TIME: 'C' };
      const child = startChild(['sandbox', '--port', '0', '--open'], { env });
      const said = await child.printed('stderr', /The inspector is at \S+/);
      await expect.poll(() => existsSync(opened), { timeout: 20_000 }).toBe(true);
      const [given, seen, location] = JSON.parse(readFileSync(opened, 'utf8'));
      expect(said).toContain(location);
      expect(given).toEqual([expect.stringMatching(/^file:\/\/\S+\.html$/)]);
      expect(seen).toMatchObject({ HOME, DISPLAY: ':7', LC_TIME: 'C' });
      expect(JSON.stringify(seen)).not.toMatch(/hidden|pk_partner/);
      child.process.kill('SIGINT');
      expect((await child.ended).code).toBe(130);
      expect(readdirSync(HOME)).toEqual(['opened.json']);
    },
  );

  it('only the browser and --handled-command are programs that the command line starts', () => {
    const cli = join(import.meta.dirname, '../../../src/devtools/cli');
    const starting = readdirSync(cli, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && readFileSync(join(cli, name), 'utf8').includes('child_process'),
    );
    expect(starting.map((name) => basename(name)).toSorted()).toEqual(['handled-count.ts', 'main.ts']);
  });
});

it('sandbox --partner-from-env needs keys', async () => {
  const { code, stderr } = await partnerExchange([...args, '--partner-from-env']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('There are no keys') });
});
