import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll } from 'vitest';
import { runCli } from '../../../src/devtools/cli/run.ts';
import type { World } from '../../../src/devtools/cli/terminal/context.ts';
import { sleep } from '../../../src/internal/backoff.ts';

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What is piped into it. @default nothing */
  readonly stdin?: string | Uint8Array;
  /** Whether all three streams are a terminal. */
  readonly isTerminal?: boolean;
  readonly columns?: number;
  readonly cwd?: string;
  readonly fetch?: typeof fetch;
  readonly signal?: AbortSignal;
  readonly now?: () => number;
  readonly sleep?: World['sleep'];
  readonly platform?: NodeJS.Platform;
  readonly askHidden?: (question: string) => Promise<string | undefined>;
  readonly confirm?: (question: string) => Promise<boolean>;
  readonly openBrowser?: (url: string) => Promise<void>;
  readonly runCommand?: World['runCommand'];
  /** Called with all that was printed on a stream until then. */
  readonly onOutput?: (all: { stdout: string; stderr: string }) => void;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where commands find the state of others, unless a test gives them a place of its own: not in that of the user. */
export const stateOfTests = mkdtempSync(join(tmpdir(), 'partner-exchange-state-'));
afterAll(() => rmSync(stateOfTests, { recursive: true, force: true }));

/** Runs one command line in this process, with everything around it made for it. */
export async function partnerExchange(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const printed = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof printed) => ({
    isTTY: options.isTerminal ?? false,
    columns: options.columns ?? 80,
    write(text: string) {
      printed[name] += text;
      options.onOutput?.(printed);
    },
  });
  const stdin = Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]);
  const context: World = {
    stdin: Object.assign(stdin, { isTTY: options.isTerminal ?? false }),
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env: { XDG_STATE_HOME: stateOfTests, ...options.env },
    cwd: options.cwd ?? process.cwd(),
    platform: options.platform ?? 'linux',
    fetch: options.fetch ?? (() => Promise.reject(new Error('This test has no network.'))),
    now: options.now ?? (() => Date.UTC(2026, 0, 2, 3, 4, 5)),
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    sleep: options.sleep ?? sleep,
    signal: options.signal ?? new AbortController().signal,
    askHidden: options.askHidden ?? (() => Promise.reject(new Error('Nobody is there to ask.'))),
    confirm: options.confirm ?? (() => Promise.reject(new Error('Nobody is there to ask.'))),
    openBrowser: options.openBrowser ?? (() => Promise.reject(new Error('There is no browser.'))),
    runCommand: options.runCommand ?? (() => Promise.reject(new Error('There is no shell.'))),
  };
  const code = await runCli(args, context);
  return { code, ...printed };
}
