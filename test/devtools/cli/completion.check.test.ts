import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bareEnvironment } from '../../support/bare-environment.ts';
import { shellCommandLine } from './child.ts';
import { hasTerminals, onTerminal } from './interactive-shell.ts';
import { partnerExchange } from './run-in-process.ts';
import { filesIn } from './support.ts';

const triggered = ['trigger', '--to', 'http://127.0.0.1:1/x', 'event.buy.credited.crypto'];

async function proposals(...words: string[]): Promise<string[]> {
  return (await partnerExchange(['__complete', ...words])).stdout.split('\n').filter(Boolean);
}

describe('completion', () => {
  it('proposes commands, subcommands, options and values', async () => {
    expect(await proposals('ver')).toEqual(['verify']);
    expect(await proposals('verify', 'eve')).toEqual([]);
    expect(await proposals('messenger', 's')).toEqual(['scan', 'send']);
    expect(await proposals('order', 'cre')).toEqual(['create']);
    expect(await proposals('order', 'create', '--jour')).toEqual(['--journal']);
    expect(await proposals('inbox', 'disc')).toEqual(['discard']);
    expect(await proposals('keys', 'prom')).toEqual(['promote']);
    expect(await proposals('listen', '--inspector-p')).toEqual(['--inspector-port']);
    expect(await proposals('sign', '--pur')).toContain('--purpose');
    expect(await proposals('sign', '--purpose', '')).toEqual(expect.arrayContaining(['order', 'general']));
    expect(await proposals('trigger', 'event.buy.c')).toContain('event.buy.credited.crypto');
    expect(await proposals('nonsense', '')).toEqual([]);
    expect(await proposals('sandbox')).toEqual(['sandbox']);
    expect(await proposals('sandbox', 'o')).toEqual(['orders']);
    expect(await proposals('sandbox', '--enf')).toEqual(['--enforce-whitelist']);
    expect(await proposals('sandbox', 'advance', 'A-1', 'cr')).toEqual(['credited']);
    expect(await proposals('sandbox', 'advance', '--p')).toEqual(['--port']);
    expect(await proposals('sandbox', 'play', 'A-1', 'kyc')).toEqual([
      'kyc_then_credited',
      'kyc_then_refund',
    ]);
    expect(await proposals('sandbox', 'clock', '')).toEqual(expect.arrayContaining(['advance', 'set']));
    expect(await proposals('sandbox', 'faults', 'add', 'createO')).toEqual(['createOrder']);
    expect(await proposals('sandbox', 'faults', 'add', 'createOrder', 'reply')).toEqual(['reply_lost']);
    expect(await proposals()).toEqual([]);
  });

  it.each(['bash', 'zsh', 'fish'])('prints a script that %s can read', async (shell) => {
    const { code, stdout } = await partnerExchange(['completion', shell]);
    expect(code).toBe(0);
    expect(stdout).toContain('partner-exchange __complete');
    const checked = spawnSync(shell, ['-n', join(filesIn({ script: stdout }), 'script')], {
      encoding: 'utf8',
    });
    // Not every machine has every shell.
    if (checked.error === undefined)
      expect({ status: checked.status, stderr: checked.stderr }).toEqual({ status: 0, stderr: '' });
  });

  /** What each shell is started with, so that it reads no file of the user's. */
  const shells = { bash: ['--norc', '-i'], zsh: ['-f', '-i'], fish: ['--no-config', '-i'] } as const;
  const has = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

  /** Command lines as they are typed in one session, and the words that they become. */
  const lines = [
    { typed: 'sandb\t--faults bad_g\t', words: ['sandbox', '--faults', 'bad_gateway'] },
    // The shell's words end at a colon.
    { typed: 'trigger --to http://127.0.0.1:1/x event.buy.cr\t', words: triggered },
    // Nothing is proposed: a file of the folder.
    { typed: 'verify eve\t', words: ['verify', 'events.json'] },
  ];

  for (const [shell, options] of Object.entries(shells)) {
    const name = `completes what is typed in ${shell}`;
    if (!hasTerminals || !has(shell, '-c', 'exit')) {
      it.skip(`${name}: skipped, there is no ${hasTerminals ? shell : 'terminal'}`, () => {});
      continue;
    }
    it(name, { timeout: 60_000 }, async () => {
      const cwd = filesIn({
        script: (await partnerExchange(['completion', shell])).stdout,
        'events.json': '',
      });
      // It only notes with what it was called.
      const fake = `#!/bin/sh
if [ "$1" = __complete ]; then exec ${shellCommandLine} "$@"; fi
printf '%s\\n' "$@" >> called
echo ready
`;
      writeFileSync(join(cwd, 'partner-exchange'), fake, { mode: 0o700 });
      const answers = JSON.stringify([
        ['', `source ./script; echo rea''dy\n`],
        ...lines.map(({ typed }) => ['ready', `partner-exchange ${typed}\n`]),
      ]);
      const [python = '', ...words] = [...onTerminal, answers, shell, ...options];
      const env = { ...bareEnvironment, PATH: `${cwd}:${process.env.PATH}`, HOME: cwd, TERM: 'dumb' };
      const child = spawn(python, words, { cwd, env });
      onTestFinished(() => void child.kill('SIGKILL'));
      const called = () => (existsSync(join(cwd, 'called')) ? readFileSync(join(cwd, 'called'), 'utf8') : '');
      const expected = lines.flatMap(({ words }) => words.map((word) => `${word}\n`)).join('');
      await expect.poll(called, { timeout: 50_000 }).toBe(expected);
    });
  }

  it('knows only these shells', async () => {
    expect(await partnerExchange(['completion', 'tcsh'])).toMatchObject({ code: 2 });
  });
});
