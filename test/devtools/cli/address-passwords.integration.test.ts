import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, RouteMap } from '@stricli/core';
import { expect, it } from 'vitest';
import { commandNames, loadRoutes } from '../../../src/devtools/cli/commands/command-list.ts';
import type { RunContext } from '../../../src/devtools/cli/terminal/context.ts';
import { partnerExchange } from './run-in-process.ts';
import { filesIn, keys } from './support.ts';

const addresses = [
  'postgres://user:s3cret@127.0.0.1:1/x',
  'postgres://127.0.0.1:1/x?user=user&password=s3cret',
  'redis://:s3cret@127.0.0.1:1',
  'rediss://user:s3cret@127.0.0.1:not-a-port',
];

type Route = Command<RunContext> | RouteMap<RunContext>;

interface Flag {
  readonly kind: string;
  readonly placeholder?: string;
  readonly optional?: boolean;
  readonly default?: unknown;
}

/** Every command with its options that take a value. */
function commandsOf(
  route: Route,
  words: readonly string[] = [],
): { words: readonly string[]; flags: [string, Flag][] }[] {
  if ('getAllEntries' in route)
    return route.getAllEntries().flatMap(({ name, target }) => commandsOf(target, [...words, name.original]));
  // Sound: the helpers of flags.ts make exactly this.
  const { flags = {} } = route.parameters as unknown as { flags?: Readonly<Record<string, Flag>> };
  return [{ words, flags: Object.entries(flags).filter(([, { kind }]) => kind === 'parsed') }];
}

const commands = commandsOf(await loadRoutes(commandNames));
const optionOf = (name: string) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
const isStore = ({ placeholder }: Flag) => placeholder === 'store' || placeholder === 'file';

const named = commands.map((command, index) => ({
  ...command,
  name: command.words.join(' '),
  // Each address comes before many commands.
  addressOf: (place: number) => addresses[(index + place) % addresses.length] ?? '',
}));

/** What a command prints, with `value` for one option and for those that it cannot do without. */
async function printedBy(
  { words, flags }: (typeof commands)[number],
  { value, option, env = {} }: { value: string; option?: string; env?: Record<string, string> },
): Promise<string> {
  const needed = flags.filter(([, flag]) => flag.optional !== true && flag.default === undefined);
  const names = new Set([...needed.map(([name]) => name), ...(option === undefined ? [] : [option])]);
  const options = [...names].flatMap((name) => [optionOf(name), value]);
  const argument = option === undefined ? [value] : [];
  const signal = /^(?:listen|sandbox)/.test(words.join(' ')) ? AbortSignal.abort() : undefined;
  const printed: string[] = [];
  for (const more of [['--debug'], ['--format', 'json']]) {
    const { stdout, stderr } = await partnerExchange([...words, ...argument, ...options, ...more], {
      ...(signal && { signal }),
      cwd: filesIn({}),
      env: { ...keys, ...env },
      stdin: '{}',
      fetch: async () => Response.json({}),
    });
    printed.push(stdout, stderr);
  }
  return printed.join('\n');
}

it.each(named)(
  'the password of an address is never printed by $name, which gets it as an argument',
  async (command) => {
    const options = [undefined, ...command.flags.map(([name]) => name)];
    for (const [place, option] of options.entries()) {
      const value = command.addressOf(place);
      expect(
        await printedBy(command, { value, ...(option && { option }) }),
        `${option} ${value}`,
      ).not.toContain('s3cret');
    }
  },
);

const withStores = named.flatMap((command) =>
  command.flags.flatMap(([option, flag]) => (isStore(flag) ? [{ command, name: command.name, option }] : [])),
);

it.each(withStores)(
  'the password of an address in a variable is never printed by $name --$option',
  async ({ command, option }) => {
    for (const STORE of addresses)
      expect(await printedBy(command, { value: 'env:STORE', option, env: { STORE } }), STORE).not.toContain(
        's3cret',
      );
  },
);

it('the password of an address in a variable is hidden in the error of a driver that repeats it', async () => {
  const cwd = filesIn({});
  mkdirSync(join(cwd, 'node_modules/pg'), { recursive: true });
  const driver = `exports.Pool = function ({ connectionString }) { throw new Error('cannot reach ' + connectionString); };`;
  writeFileSync(join(cwd, 'node_modules/pg/index.js'), driver);
  const args = ['order', 'unsettled', '--journal', 'env:STORE', '--debug'];
  const { stdout, stderr } = await partnerExchange(args, { cwd, env: { STORE: addresses[0] } });
  expect(stderr).toContain('cannot reach ');
  expect(stdout + stderr).not.toContain('s3cret');
});

it('a store of every kind is among these options', () => {
  const names = commands.flatMap(({ words, flags }) =>
    flags.flatMap(([name, flag]) => (flag.placeholder === 'store' ? [`${words.join(' ')} --${name}`] : [])),
  );
  expect(names).toEqual(
    expect.arrayContaining([
      'keys status --keys',
      'order list --journal',
      'inbox list --inbox',
      'keys receive --keys',
    ]),
  );
});
