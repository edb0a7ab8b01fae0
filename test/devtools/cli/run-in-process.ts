import { Readable } from 'node:stream';
import { runCli } from '../../../src/devtools/cli/run.ts';
import type { World } from '../../../src/devtools/cli/terminal/context.ts';
import { sleep } from '../../../src/internal/backoff.ts';

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What is piped into it. @default nothing */
  readonly stdin?: string | Uint8Array;
  /** Whether all three streams are a terminal. */
  readonly isTerminal?: boolean;
  readonly cwd?: string;
  readonly fetch?: typeof fetch;
  readonly signal?: AbortSignal;
  readonly now?: () => number;
  readonly sleep?: World['sleep'];
  readonly platform?: NodeJS.Platform;
  readonly askHidden?: (question: string) => Promise<string | undefined>;
  readonly confirm?: (question: string) => Promise<boolean>;
  /** Called with all that was printed on a stream until then. */
  readonly onOutput?: (all: { stdout: string; stderr: string }) => void;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command line in this process, with everything around it made for it. */
export async function partnerExchange(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const printed = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof printed) => ({
    isTTY: options.isTerminal ?? false,
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
    env: options.env ?? {},
    cwd: options.cwd ?? process.cwd(),
    platform: options.platform ?? 'linux',
    fetch: options.fetch ?? (() => Promise.reject(new Error('This test has no network.'))),
    now: options.now ?? (() => Date.UTC(2026, 0, 2, 3, 4, 5)),
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    sleep: options.sleep ?? sleep,
    signal: options.signal ?? new AbortController().signal,
    askHidden: options.askHidden ?? (() => Promise.reject(new Error('Nobody is there to ask.'))),
    confirm: options.confirm ?? (() => Promise.reject(new Error('Nobody is there to ask.'))),
  };
  const code = await runCli(args, context);
  return { code, ...printed };
}
