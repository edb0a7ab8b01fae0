import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startChild } from './child.ts';
import { filesIn, keys, scratchFolder, start } from './support.ts';

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

describe('a browser', () => {
  it.skipIf(process.platform !== 'linux')(
    'is started by the opener of the system, which sees no key on its command line or in its environment',
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
      const secrets = {
        ...keys,
        MESSENGER_API_KEY: 'API-X-hidden5',
        MESSENGER_MASTER_KEY: 'master-hidden3',
        AWS_SECRET_ACCESS_KEY: 'hidden4',
        PARTNER_EXCHANGE_MESSENGER_BASE_URL: 'https://messenger.example',
      };
      const env = { ...secrets, HOME, PATH: `${cwd}:${process.env.PATH}`, DISPLAY: ':7', LC_TIME: 'C' };
      const { code } = await startChild(['messenger', 'scan', '--open'], { env }).ended;
      expect(code).toBe(0);
      await expect.poll(() => existsSync(opened), { timeout: 20_000 }).toBe(true);
      const [given, seen, location] = JSON.parse(readFileSync(opened, 'utf8'));
      expect(location).toContain('api_key=API-X-hidden5');
      expect(given).toEqual([expect.stringMatching(/^file:\/\/\S+\.html$/)]);
      expect(seen).toMatchObject({ HOME, DISPLAY: ':7', LC_TIME: 'C' });
      expect(JSON.stringify(seen)).not.toMatch(/hidden|pk_partner/);
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
