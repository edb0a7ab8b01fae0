import type { Command, RouteMap } from '@stricli/core';
import { describe, expect, it } from 'vitest';
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

/** What a command prints, with `value` for these options and for those that it cannot do without. */
async function printedBy(
  words: readonly string[],
  value: string,
  given: readonly string[] = [],
): Promise<string> {
  const { flags = [] } = commands.find((command) => command.words === words) ?? {};
  const needed = flags.filter(([, flag]) => flag.optional !== true && flag.default === undefined);
  const names = new Set([...needed.map(([name]) => name), ...given]);
  const options = [...names].flatMap((name) => [optionOf(name), value]);
  const runs = [
    [...words, ...options],
    [...words, ...options, '--format', 'json'],
    [...words, ...options, '--debug'],
    [...words, value, ...options],
    [...words, ...options, '--help'],
  ];
  const cwd = filesIn({});
  const signal = /^(?:listen|sandbox)/.test(words.join(' ')) ? AbortSignal.abort() : undefined;
  const printed: string[] = [];
  for (const args of runs) {
    const { stdout, stderr } = await partnerExchange(args, {
      ...(signal && { signal }),
      cwd,
      env: { ...keys, STORE: value.startsWith('env:') ? hiddenAddress : undefined },
      stdin: '{}',
      fetch: async () => Response.json({}),
    });
    printed.push(stdout, stderr);
  }
  return printed.join('\n');
}

let hiddenAddress: string | undefined;

const named = commands.map((command) => ({ ...command, name: command.words.join(' ') }));

describe('the password of an address that is an argument', () => {
  it.each(named)('is never printed by $name', async ({ words, flags }) => {
    for (const address of addresses)
      for (const [name] of [['', undefined], ...flags] as const)
        expect(
          await printedBy(words, address, name === '' ? [] : [name]),
          `${name} ${address}`,
        ).not.toContain('s3cret');
  });
});

describe('the password of an address that is in a variable', () => {
  const withStores = named.flatMap(({ flags, ...command }) => {
    const stores = flags.filter(([, flag]) => isStore(flag)).map(([name]) => name);
    return stores.length === 0 ? [] : [{ ...command, stores }];
  });

  it.each(withStores)('is never printed by $name', async ({ words, stores }) => {
    for (const address of addresses) {
      hiddenAddress = address;
      for (const name of stores)
        expect(await printedBy(words, 'env:STORE', [name]), `${name} ${address}`).not.toContain('s3cret');
    }
  });
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
