import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bareEnvironment } from '../../support/bare-environment.ts';
import { freePort } from '../../support/free-port.ts';
import { shellCommandLine } from './child.ts';
import { scratchFolder } from './support.ts';

const page = join(import.meta.dirname, '../../../docs', 'cli.md');

/** A command of the transcript, with what it prints. */
interface Step {
  readonly command: string;
  readonly output: string;
}

/** The blocks of the walk-through. */
function blocksIn(text: string): string[] {
  return [...text.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
}

function stepsIn(block: string): Step[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...output] = part.trimEnd().split('\n');
      return { command, output: output.join('\n') };
    });
}

describe.skipIf(process.platform === 'win32')('docs/cli.md', () => {
  it('tells what happens in a first hour', { timeout: 180_000 }, async () => {
    const text = readFileSync(page, 'utf8');
    const blocks = blocksIn(text);
    const shell = await startShell();
    const replayed: string[] = [];
    for (const block of blocks) {
      const lines: string[] = [];
      for (const { command, output } of stepsIn(block)) {
        const printed = await shell.run(command, output.split('\n').length);
        lines.push(`$ ${command}`, ...(printed === '' ? [] : [printed]));
      }
      replayed.push(`${lines.join('\n')}\n`);
    }
    if (process.env.UPDATE_TRANSCRIPT) {
      let next = 0;
      const update = () => `\`\`\`console\n${replayed[next++]}\`\`\``;
      writeFileSync(page, text.replaceAll(/^```console\n[\s\S]*?^```$/gm, update));
    } else expect(replayed).toEqual(blocks);
    expect(replayed.join('').match(/^\$ partner-exchange/gm)?.length).toBeGreaterThan(9);
  });
});

/** Free ports, by those in the docs. */
type Ports = ReadonlyMap<string, string>;

async function freePorts(): Promise<Ports> {
  return new Map([
    ['4100', String(await freePort())],
    ['4200', String(await freePort())],
  ]);
}

/** A command with the ports that are free. */
function withPorts(command: string, ports: Ports): string {
  const port = starting.exec(command)?.[1];
  const own = ` --port ${ports.get(port === 'listen' ? '4100' : '4200')}`;
  return command
    .replaceAll(/127\.0\.0\.1:(\d+)/g, (_, known: string) => `127.0.0.1:${ports.get(known) ?? known}`)
    .replace(starting, (start) => start + own);
}

/** What starts a server, unlike `sandbox advance`. */
const starting = /partner-exchange (listen|sandbox)(?= --)/;

/** An output without what differs from run to run. */
function plain(text: string, ports: Ports): string {
  return [...ports]
    .reduce((shown, [known, real]) => shown.replaceAll(`:${real}`, `:${known}`), text)
    .replaceAll(/token=[\w-]+/g, 'token=1a2b3c4d')
    .replaceAll(/Bearer [\w-]{32}/g, 'Bearer 1a2b3c4d')
    .replaceAll(/\d+ ms/g, '5 ms')
    .replaceAll(/(until )?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (_, until?: string) =>
      until === undefined ? '2026-01-02T03:04:05.678Z' : 'until 2026-01-03T04:04:05.678Z',
    )
    .replaceAll(/\d{8}T\d{9}Z-(\d{6})-[0-9a-f]{8}/g, '20260102T030405678Z-$1-1a2b3c4d');
}

/** A shell whose ports are free ones instead of those in the docs. */
async function startShell() {
  const cwd = scratchFolder();
  const ports = await freePorts();
  /** What later commands need to have been run before; both streams are one, as on a terminal, so that their order is kept. */
  const settings = ['exec 2>&1', `partner-exchange() { ${shellCommandLine} "$@"; }`];

  function start(command: string) {
    const real = withPorts(command, ports).replace(/ &$/, '');
    // In a group of its own, so that it can be stopped with all that it started.
    const child = spawn('bash', ['-c', `${settings.join('\n')}\n${real}`], {
      cwd,
      detached: true,
      env: bareEnvironment,
    });
    const printed = { text: '' };
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      printed.text += part;
    });
    return { child, printed };
  }

  return {
    async run(command: string, expectedLines: number): Promise<string> {
      if (/^(?:set|export) /.test(command)) {
        settings.push(command);
        return '';
      }
      const { child, printed } = start(command);
      if (command.endsWith(' &')) {
        onTestFinished(() => {
          if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
        });
        const lines = () => printed.text.trimEnd().split('\n');
        await expect.poll(() => printed.text, { timeout: 30_000 }).toMatch(/Ctrl-C ends it[\s\S]*\n/);
        await expect.poll(() => lines().length, { timeout: 5_000 }).toBeGreaterThanOrEqual(expectedLines);
        return plain(lines().join('\n'), ports);
      }
      await new Promise((resolve) => child.once('close', resolve));
      return plain(printed.text.trimEnd(), ports);
    },
  };
}
