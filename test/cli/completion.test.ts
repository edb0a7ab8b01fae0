import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { partnerExchange } from './run-in-process.ts';

async function proposals(...words: string[]): Promise<string[]> {
  return (await partnerExchange(['__complete', ...words])).stdout.split('\n').filter(Boolean);
}

describe('completion', () => {
  it('proposes commands, subcommands, options and values', async () => {
    expect(await proposals('ver')).toEqual(['verify']);
    expect(await proposals('messenger', 's')).toEqual(['scan', 'send']);
    expect(await proposals('sign', '--pur')).toContain('--purpose');
    expect(await proposals('sign', '--purpose', '')).toEqual(expect.arrayContaining(['order', 'general']));
    expect(await proposals('trigger', 'event.buy.c')).toContain('event.buy.credited.crypto');
    expect(await proposals('nonsense', '')).toEqual([]);
    expect(await proposals()).toEqual([]);
  });

  it.each(['bash', 'zsh', 'fish'])('prints a script that %s can read', async (shell) => {
    const { code, stdout } = await partnerExchange(['completion', shell]);
    expect(code).toBe(0);
    expect(stdout).toContain('partner-exchange __complete');
    const checked = spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' });
    // Not every machine has every shell.
    if (checked.error === undefined)
      expect({ status: checked.status, stderr: checked.stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('completes in bash', async () => {
    const { stdout } = await partnerExchange(['completion', 'bash']);
    const script = `partner-exchange() { echo verify; echo version; }
${stdout}
COMP_WORDS=(partner-exchange ver); COMP_CWORD=1; _partner_exchange; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout: printed, error } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    if (error === undefined) expect(printed).toBe('verify\nversion\n');
  });

  it('knows only these shells', async () => {
    expect(await partnerExchange(['completion', 'tcsh'])).toMatchObject({ code: 2 });
  });
});
