import {
  type Application,
  type ApplicationContext,
  generateHelpTextForAllCommands,
  run,
} from '@stricli/core';
import { describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { commandNames, withDefaultCommand } from '../../../src/devtools/cli/commands/command-list.ts';
import { loadApplication } from '../../../src/devtools/cli/run.ts';
import { CliError, type RunContext } from '../../../src/devtools/cli/terminal/context.ts';
import { partnerExchange } from './run-in-process.ts';

const application = await loadApplication(commandNames);
// Sound: no command is run here, so none misses its context.
const helpTexts = generateHelpTextForAllCommands(application as unknown as Application<ApplicationContext>);

/** The words of an example's own part, without redirection. */
function wordsOf(example: string): string[] {
  const own = example.split('|').at(-1)?.split(/[<>]/)[0] ?? '';
  const words = own.match(/"[^"]*"|[^\s"]+/g) ?? [];
  return words.slice(1).map((word) => word.replaceAll('"', ''));
}

describe('help', () => {
  it('lists every command, and is what a group says by itself', async () => {
    const { code, stdout } = await partnerExchange(['--help']);
    expect(code).toBe(0);
    for (const name of commandNames) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    const group = await partnerExchange(['messenger']);
    expect(group).toMatchObject({ code: 0, stdout: expect.stringContaining('scan') });
  });

  it('of sandbox lists its commands, and that of its start the options', async () => {
    expect((await partnerExchange(['sandbox', '--help'])).stdout).toMatch(
      /COMMANDS\n {2}start [\s\S]*advance/,
    );
    for (const words of [
      ['sandbox', 'start', '--help'],
      ['sandbox', '--seed', '7', '--help'],
    ])
      expect((await partnerExchange(words)).stdout).toContain('--enforce-whitelist');
  });

  it.each(helpTexts)('of %s shows its colours, and no escape, on a terminal', async (name) => {
    const words = name.split(' ').slice(1);
    const { stdout } = await partnerExchange([...words, '--help'], { isTerminal: true });
    expect(stdout).toContain('\u001b[');
    expect(stdout).not.toMatch(/\\u[0-9a-f]{4}/);
  });

  it.each(helpTexts)('of %s says the shape of its JSON', (_, help) => {
    expect(help.includes('\nJSON\n')).toBe(help.includes('--format'));
  });

  it.each(helpTexts)('of %s has examples and --debug', (_, help) => {
    expect(help).toMatch(/EXAMPLES\n {2}\$ (?:[\w-]+ \| )?partner-exchange /);
    expect(help).toContain('--debug');
  });

  it.each(
    helpTexts.flatMap(([, help]) => [...help.matchAll(/^ {2}\$ (.*)$/gm)].map(([, example = '']) => example)),
  )('has an example that can be parsed: %s', async (example) => {
    let isCalled = false;
    let problem = '';
    const silent: ApplicationContext['process'] = {
      stdout: { write: () => {} },
      stderr: {
        write(text) {
          problem += text;
        },
      },
      exitCode: null,
    };
    const context = {
      process: silent,
      env: {},
      cwd: '/nowhere',
      signal: new AbortController().signal,
      stderr: { write: () => {} },
      // Every command begins with its output: as far as that, and no further.
      get stdout(): never {
        isCalled = true;
        throw new CliError('This test runs no command.');
      },
    };
    // Sound: no command gets as far as the rest.
    const forCommand = () => context as unknown as RunContext;
    await run(application, withDefaultCommand(wordsOf(example)), { process: silent, forCommand });
    expect(problem).toBe('');
    expect(isCalled).toBe(true);
  });

  it('has no option for a secret', () => {
    const options = helpTexts.flatMap(([, help]) =>
      [...help.matchAll(/--([\w-]+)/g)].map(([, name]) => name),
    );
    expect(
      options.filter((name) => /secret|password|token|(?:api|master|partner|merchant)-key/.test(name ?? '')),
    ).toEqual([]);
  });
});

describe('usage errors', () => {
  it.each([
    [['veryfy'], 'did you mean `verify`'],
    [['sign', '--fromat', 'json'], 'did you mean --format'],
    [['trigger', 'event.buy.init'], '--to needs a value'],
    [['trigger', 'event.buy.nit', '--to', 'http://127.0.0.1'], 'event: must be event.buy.init,'],
    [['listen', '--port', '70000'], 'port: must be a whole number from 0 to 65535'],
    [['replay', 'x.json', '--to', 'file:///etc/passwd'], 'to: must be an address'],
    [['messenger', 'send'], '<phone> is missing'],
    [['sign', 'one', 'two'], 'too many arguments'],
    [['sandbox', 'port', '3000'], 'no such command. Options begin with two hyphens, such as --format.'],
    [['sandbox', 'advnace'], 'did you mean `advance`'],
    [['sandbox', 'list'], 'The commands of sandbox are start,'],
    [['sandbox', 'advance', 'A-1', 'creditd'], 'credited, refunded: did you mean credited?'],
    [['sandbox', 'advance', 'A-1', 'sk_partner_abcdef'], 'credited, refunded. Add --help'],
    [['sandbox', '--format', 'jsn'], '--format must be text or json: did you mean json?'],
    [['sandbox', '-port', '3000'], 'There is no such option. Options begin with two hyphens'],
    [['onboard', '--email'], '--email needs a value'],
    [['sign', '--format', 'text', '--format', 'text'], 'can be given only once'],
    [['sign', '-x'], 'There is no such option.'],
    // stricli would find these on every object.
    [['sign', '--toString'], 'There is no such option.'],
    [['sign', '--to-string=x'], 'There is no such option.'],
    [['--constructor'], 'There is no such option.'],
    [['--hasOwnProperty', 'sign'], 'There is no such option.'],
    [['order', 'create', '--__proto__', 'x'], 'Options begin with two hyphens'],
    [['constructor'], 'There is no such command.'],
  ])('%j: one line, with the next step, and exit code 2', async (args, message) => {
    const { code, stdout, stderr } = await partnerExchange(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^error: .*--help.*\n$/);
  });
});

it('a usage error is JSON where results are', async () => {
  const { code, stderr } = await partnerExchange(['verify', '--format', 'json', '--purpos', 'order']);
  expect(code).toBe(2);
  expect(JSON.parse(stderr)).toEqual({
    error: {
      message: 'There is no option --purpos: did you mean --purpose? Add --help to see what there is.',
      exitCode: 2,
      code: 'cli',
    },
  });
});

it('--version prints the version of the package', async () => {
  expect(await partnerExchange(['--version'])).toEqual({
    code: 0,
    stdout: `${manifest.version}\n`,
    stderr: '',
  });
});
