import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, RouteMap } from '@stricli/core';
import { commandNames, loadRoutes } from '../../src/devtools/cli/commands/command-list.ts';
import { exitCodes, type RunContext } from '../../src/devtools/cli/terminal/context.ts';
import { root } from '../checks/entries.ts';

type Target = Command<RunContext> | RouteMap<RunContext>;

/** The parameters of a command, as the helpers of `flags.ts` make them. */
interface Parameter {
  readonly kind?: string;
  readonly brief: string;
  readonly placeholder?: string;
  readonly values?: readonly string[];
  readonly default?: unknown;
  readonly optional?: boolean;
  readonly variadic?: boolean;
}

const endings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: 'it did what you asked, and found nothing wrong',
  findings: 'it ran, and found something wrong, or the service refused it',
  usage: 'it did not run: arguments, configuration or files are not right',
  unknownOutcome: 'the service may or may not have acted: look before you repeat it',
  stopped: 'it was stopped (Ctrl-C, closed output) with nothing left open; otherwise 3',
};
// Sound: the keys of the literal.
const codes = Object.keys(endings) as (keyof typeof endings)[];

const intro = `# Commands

For everybody who types \`partner-exchange\`: each command with its arguments and options, as \`--help\` after it prints them. [The command line](cli.md) says how they work together. Every command also takes \`--help\`, and \`--debug\`, which says more when something fails; those with a line about JSON take \`--format json\`. Members may be added to the JSON; these stay.

This page is generated from the commands (\`npm run docs:commands\`).

## Exit codes

| exit code | means |
|---|---|
${codes.map((name) => `| ${exitCodes[name]} | ${endings[name]} |`).join('\n')}

`;

/** docs/commands.md, from the commands. */
async function commandsPage(): Promise<string> {
  const routes = await loadRoutes(commandNames);
  return `${[intro.trimEnd(), ...sectionsOf(routes, [])].join('\n\n')}\n`;
}

/** The words of each command, and of each group of them. */
export async function commandWords(): Promise<string[]> {
  return wordsOf(await loadRoutes(commandNames), []);
}

function wordsOf(target: Target, words: readonly string[]): string[] {
  const own = words.length === 0 ? [] : [words.join(' ')];
  if (!('getAllEntries' in target)) return own;
  return [
    ...own,
    ...target.getAllEntries().flatMap(({ name, target }) => wordsOf(target, [...words, name.original])),
  ];
}

function sectionsOf(target: Target, words: readonly string[]): string[] {
  if (!('getAllEntries' in target)) return [commandSection(target, words)];
  const entries = target.getAllEntries();
  const sections = entries.flatMap(({ name, target }) => sectionsOf(target, [...words, name.original]));
  if (words.length === 0) return sections;
  const names = entries.map(({ name }) => `[\`${name.original}\`](#${[...words, name.original].join('-')})`);
  return [`## ${words.join(' ')}\n\n${target.brief}: ${names.join(', ')}.`, ...sections];
}

function commandSection(command: Command<RunContext>, words: readonly string[]): string {
  const [about = '', examples = '', json] = command.fullDescription?.split(/\n\n(?:EXAMPLES|JSON)\n/) ?? [];
  // Sound: `defineCommand` takes nothing else.
  const { flags = {}, positional } = command.parameters as unknown as {
    flags?: Readonly<Record<string, Parameter>>;
    positional?: { readonly parameter?: Parameter; readonly parameters?: readonly Parameter[] };
  };
  const args =
    positional?.parameters ?? (positional?.parameter ? [{ ...positional.parameter, variadic: true }] : []);
  const rows = [
    ...args.map((arg) => [
      `\`<${arg.placeholder ?? 'word'}>${arg.variadic ? '...' : ''}\``,
      prose(arg.brief),
    ]),
    ...Object.entries(flags)
      .filter(([name, { values }]) => name !== 'debug' && (name !== 'format' || values?.length !== 2))
      .map(([name, flag]) => [`\`${optionOf(name, flag)}\``, prose(flag.brief) + defaultOf(flag)]),
  ];
  const table = rows.map((cells) => `| ${cells.map((cell) => cell?.replaceAll('|', '\\|')).join(' | ')} |`);
  return [
    `## ${words.join(' ')}`,
    prose(`${command.brief}. ${about}`),
    `\`\`\`console\n${examples.replaceAll(/^ {2}/gm, '')}\n\`\`\``,
    ...(table.length > 0 ? [['| argument, option | is |', '|---|---|', ...table].join('\n')] : []),
    ...(json === undefined ? [] : [`JSON: ${json.trim().replaceAll(/\{ .* \}/g, '`$&`')}`]),
  ].join('\n\n');
}

/** Not an element of HTML: `<file>`. */
function prose(text: string): string {
  return text.replaceAll('<', '\\<');
}

function optionOf(name: string, { kind, values, placeholder, variadic }: Parameter): string {
  const option = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const value = kind === 'boolean' ? '' : ` ${values?.join('|') ?? placeholder ?? 'value'}`;
  return option + value + (variadic ? ' ...' : '');
}

function defaultOf({ kind, default: value, optional }: Parameter): string {
  if (kind === 'boolean' || optional) return '';
  return value === undefined ? ' (required)' : ` (default: \`${value}\`)`;
}

if (import.meta.main) writeFileSync(join(root, 'docs', 'commands.md'), await commandsPage());
