import type { Sleep } from '../../runtime/sleep.ts';
import type { SecretGuard } from './secret-guard.ts';
import type { InputStream, OutputStream, Variables } from './streams.ts';

/**
 * All that a command has of the world outside. `main` takes it from the process, tests make their own.
 */
export interface CliContext {
  readonly stdin: InputStream;
  /** For results. */
  readonly stdout: OutputStream;
  /** For everything else that is said. */
  readonly stderr: OutputStream;
  readonly env: Variables;
  /** What relative paths are relative to. */
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly fetch: typeof fetch;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly sleep: Sleep;
  /** Aborted when the user stops the command (Ctrl-C). */
  readonly signal: AbortSignal;
  /** Hides the keys that were read from all that is printed. */
  readonly secrets: SecretGuard;
  /** Asks for a secret on the terminal, and hides what is typed. `undefined` if the user cancelled. */
  readonly askHidden: (question: string) => Promise<string | undefined>;
  /** Asks yes or no on the terminal. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** Opens an address in the user's browser. The address must hold no secret: other programs see it. */
  readonly openBrowser: (url: string) => Promise<void>;
}

/** A context before a run has read any key. */
export type OuterContext = Omit<CliContext, 'secrets'>;
