import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startChild } from './child.ts';
import { hasTerminals } from './interactive-shell.ts';
import { filesIn, keys, scratchFolder } from './support.ts';

/** Everything in a process of its own starts Node, on a machine that may be busy. */
const patient = { timeout: 60_000 };

describe('in a process of its own', () => {
  it('reads a pipe, writes a pipe, and exits as documented', patient, async () => {
    const sign = startChild(['sign'], { env: keys });
    sign.process.stdin?.end('{"a":1}');
    const { code, stdout, stderr } = await sign.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const verify = startChild(['verify'], { env: keys });
    verify.process.stdin?.end(stdout.replace('1', '2'));
    expect(await verify.ended).toMatchObject({ code: 1, stdout: expect.stringContaining('refused') });
  });

  it('ends quietly when nobody reads on', patient, async () => {
    const sign = startChild(['sandbox', '--help']);
    sign.process.stdout?.destroy();
    expect((await sign.ended).stderr).toBe('');
  });

  it('stops in order when its reader has gone', patient, async () => {
    const listen = startChild(['listen', '--port', '0', '--format', 'json'], { env: keys });
    const [address = ''] = /http:[\d.:/]+\d/.exec(await listen.printed('stderr', /Listening at .*\n/)) ?? [];
    listen.process.stdout?.destroy();
    await fetch(address, { method: 'POST', body: '{}' });
    const { code, stderr } = await listen.ended;
    expect(code).toBe(130);
    expect(stderr).not.toContain('error');
  });

  it.runIf(existsSync('/dev/full'))('says that its output cannot be written', patient, async () => {
    const words = [process.execPath, 'src/devtools/cli/main.ts', '--help']
      .map((word) => `'${word}'`)
      .join(' ');
    const { status, stderr } = spawnSync('sh', ['-c', `${words} > /dev/full`], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: 'error: The output cannot be written (ENOSPC): write it elsewhere.\n',
    });
  });

  it.skipIf(process.env.TEST_BINARY)('says where Node has no SQLite', patient, async () => {
    const env = { NODE_OPTIONS: '--no-experimental-sqlite' };
    const cwd = filesIn({ 'orders.sqlite': '' });
    expect(
      await startChild(['order', 'unsettled', '--journal', 'orders.sqlite'], { env, cwd }).ended,
    ).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('use 22.13 or later'),
    });
  });

  it.skipIf(process.platform === 'win32')(
    'listen and sandbox end in order on SIGINT and SIGTERM, with 130',
    patient,
    async () => {
      const listen = startChild(['listen', '--port', '0'], { env: keys });
      const sandbox = startChild(['sandbox', '--port', '0']);
      await listen.printed('stderr', /Listening at/);
      await sandbox.printed('stderr', /The sandbox is at/);
      listen.process.kill('SIGINT');
      sandbox.process.kill('SIGTERM');
      expect((await listen.ended).code).toBe(130);
      expect((await sandbox.ended).code).toBe(130);
    },
  );

  it('warnings of the SDK are one line', patient, async () => {
    const child = startChild(['verify'], { env: { ...keys, PARTNER_EXCHANGE_HOME: 'x' } });
    child.process.stdin?.end('{}');
    expect((await child.ended).stderr).toMatch(
      /^warning: The environment variable PARTNER_EXCHANGE_HOME is not read/,
    );
  });
});

describe.runIf(hasTerminals)('on a terminal', () => {
  const env = { PARTNER_EXCHANGE_MESSENGER_BASE_URL: 'https://messenger.example' };
  const question = 'API key of the device';

  it(
    'asks for a key in one line, hides it, and goes on, also without knowing its size',
    patient,
    async () => {
      const page = join(scratchFolder(), 'scan.html');
      const { code, stdout } = await startChild(['messenger', 'scan', '--save', page], {
        answers: [[question, 'API-X-typed-by-hand\r']],
        env: { ...env, TERMINAL_SIZE: '[0, 0]' },
      }).ended;
      expect(code).toBe(0);
      expect(stdout).toContain(question);
      expect(stdout).not.toContain('typed');
      expect(readFileSync(page, 'utf8')).toContain('typed-by-hand');
    },
  );

  it('is stopped by Ctrl-C while it asks', patient, async () => {
    const { code, stdout } = await startChild(['messenger', 'scan', '--save', 'x'], {
      answers: [[question, '\u0003']],
      env,
    }).ended;
    expect(code).toBe(130);
    expect(stdout).toContain('Stopped before anything was done.');
  });
});
