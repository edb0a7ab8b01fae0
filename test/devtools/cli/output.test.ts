import { describe, expect, it } from 'vitest';
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
