import { describe, expect, it } from 'vitest';
import type { CliContext } from '../../../src/devtools/cli/terminal/context.ts';
import { startProgress } from '../../../src/devtools/cli/terminal/output.ts';
import { hasColours } from '../../../src/devtools/cli/terminal/terminal-text.ts';
import { partnerExchange } from './run-in-process.ts';
import { keys } from './support.ts';

describe('colours', () => {
  it.each([
    ['a terminal', {}, true, true],
    ['a pipe', {}, false, false],
    ['NO_COLOR', { NO_COLOR: '1' }, true, false],
    ['an empty NO_COLOR', { NO_COLOR: '' }, true, true],
    ['FORCE_COLOR in a pipe', { FORCE_COLOR: '1' }, false, true],
    ['an empty FORCE_COLOR in a pipe', { FORCE_COLOR: '' }, false, false],
    ['an empty FORCE_COLOR on a terminal', { FORCE_COLOR: '' }, true, true],
    ['FORCE_COLOR=0 on a terminal', { FORCE_COLOR: '0' }, true, false],
    ['NO_COLOR beside FORCE_COLOR', { NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    ['a dumb terminal', { TERM: 'dumb' }, true, false],
  ])('%s', (_, env, isTTY, expected) => {
    expect(hasColours(env, { write: () => {}, isTTY })).toBe(expected);
  });

  it('are in results, errors and help on a terminal, and nowhere in a pipe', async () => {
    const runs = (isTerminal: boolean) =>
      Promise.all([
        partnerExchange(['verify', '-'], { env: keys, stdin: '{}', isTerminal }),
        partnerExchange(['sign'], { isTerminal }),
        partnerExchange(['--help'], { isTerminal }),
      ]);
    for (const { stdout, stderr } of await runs(true)) expect(stdout + stderr).toContain('\u001b[');
    for (const { stdout, stderr } of await runs(false)) expect(stdout + stderr).not.toContain('\u001b[');
  });
});

describe('progress', () => {
  function progressOn(isTTY: boolean, env = {}) {
    let printed = '';
    let time = 0;
    const context = {
      stderr: {
        write(text: string) {
          printed += text;
        },
        isTTY,
        columns: 10,
      },
      now: () => time,
      env,
    };
    // Sound: the progress needs nothing else of a context.
    const progress = startProgress(context as unknown as CliContext);
    return {
      progress,
      printed: () => printed,
      wait(ms: number) {
        time += ms;
      },
    };
  }

  it('is one line that changes on a terminal, cut to its width', () => {
    const { progress, printed } = progressOn(true);
    progress.update('1 done, last something-long');
    progress.stop();
    expect(printed()).toBe('\r\u001b[2K1 done, l\r\u001b[2K');
  });

  it.each([
    ['in a pipe', false, {}],
    ['on a terminal that knows no cursor', true, { TERM: 'dumb' }],
  ])('is a plain line every ten seconds %s', (_, isTTY, env) => {
    const { progress, printed, wait } = progressOn(isTTY, env);
    progress.update('1 done');
    wait(9_999);
    progress.update('2 done');
    wait(1);
    progress.update('3 done');
    progress.stop();
    expect(printed()).toBe('3 done\n');
  });
});
