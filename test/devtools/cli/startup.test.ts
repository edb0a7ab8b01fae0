import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Application, run } from '@stricli/core';
import { describe, expect, it, vi } from 'vitest';
import { environmentVariables } from '../../../src/deployment/environment-variables.ts';
import { commandNames } from '../../../src/devtools/cli/commands/command-list.ts';
import { loadApplication, outlineCommands } from '../../../src/devtools/cli/run.ts';
import type { RunContext } from '../../../src/devtools/cli/terminal/context.ts';
import { secretGuard } from '../../../src/devtools/cli/terminal/secret-guard.ts';

const source = join(import.meta.dirname, '../../../src');

/** The modules that a file loads at once: neither types, nor what it imports when it is needed. */
function staticImports(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/^import (?!type\b)(?:[^;]*? from )?'([^']+)';/gm)].map(([, name = '']) => name);
}

function loadedWith(entry: string): { files: string[]; packages: string[] } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string) => {
    if (files.has(file)) return;
    files.add(file);
    for (const name of staticImports(file)) {
      if (name.startsWith('.')) visit(join(dirname(file), name));
      else packages.add(name);
    }
  };
  visit(entry);
  return { files: [...files].map((file) => relative(source, file)), packages: [...packages] };
}

describe('--help', () => {
  const { files, packages } = loadedWith(join(source, 'devtools/cli/main.ts'));

  it('loads no built-in module and no package but the framework', () => {
    expect(packages).toEqual(['@stricli/core']);
  });

  it('loads of the command line only the table of commands, and what runs one', () => {
    expect(files.filter((file) => file.startsWith('devtools/cli/')).sort()).toEqual([
      'devtools/cli/commands/command-list.ts',
      'devtools/cli/commands/command-outlines.ts',
      'devtools/cli/main.ts',
      'devtools/cli/run.ts',
      'devtools/cli/terminal/command.ts',
      'devtools/cli/terminal/context.ts',
      'devtools/cli/terminal/secret-guard.ts',
      'devtools/cli/terminal/terminal-text.ts',
      'devtools/cli/terminal/usage-errors.ts',
    ]);
  });

  it('prints the same from the outlines that the build writes', async () => {
    const commandOutlines = await outlineCommands();
    vi.doMock('../../../src/devtools/cli/commands/command-outlines.ts', () => ({ commandOutlines }));
    vi.resetModules();
    const built = await import('../../../src/devtools/cli/run.ts');
    vi.doUnmock('../../../src/devtools/cli/commands/command-outlines.ts');
    expect(commandOutlines).toMatchObject({
      sandbox: { usage: ' start|advance ...' },
    });
    expect(await rootHelp(await built.loadApplication([]))).toBe(await rootHelp(await loadApplication([])));
  });

  it('loads nothing of the library that is large', () => {
    const folders = new Set(files.map((file) => file.split('/')[0]));
    for (const folder of ['config', 'errors', 'deployment', 'signature', 'diagnostics', 'sandbox', 'http']) {
      expect(folders).not.toContain(folder);
    }
  });
});

async function rootHelp(application: Application<RunContext>): Promise<string> {
  let help = '';
  const stdout = {
    write(text: string) {
      help += text;
    },
  };
  await run(application, ['--help'], {
    process: { stdout, stderr: { write: () => {} } },
    forCommand: () => Promise.reject(new Error('No command.')),
  });
  return help;
}

it('no command loads SQLite, which Node 22.12 lacks, before a file of it is named', () => {
  for (const command of commandNames) {
    const [file = ''] = globSync(`devtools/cli/commands/{,${command}/}${command}{,-commands}.ts`, {
      cwd: source,
    });
    const { packages } = loadedWith(join(source, file));
    expect({ command, packages }).toEqual({ command, packages: expect.not.arrayContaining(['node:sqlite']) });
  }
});

it('attack --handled-command is the only program that the command line starts', () => {
  const starting = globSync('devtools/cli/**/*.ts', { cwd: source }).filter((file) =>
    readFileSync(join(source, file), 'utf8').includes('child_process'),
  );
  expect(starting).toEqual(['devtools/cli/commands/attack.ts']);
});

it('the guard of secrets knows every variable that holds one', () => {
  const value = 'a-value-that-is-a-secret';
  const hidden = environmentVariables
    .map(({ name }) => name.replace('<NAME>', 'NGN'))
    .filter((name) => secretGuard({ [name]: value }).redact(value) !== value);
  expect(hidden).toEqual([
    'PARTNER_SECRET_KEY',
    'MERCHANT_SECRET_KEY',
    'MERCHANT_SECRET_KEY_NGN',
    'MESSENGER_API_KEY',
    'MESSENGER_MASTER_KEY',
  ]);
});
