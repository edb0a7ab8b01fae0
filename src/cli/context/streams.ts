import type { Readable } from 'node:stream';

/** Where a command reads from. */
export type InputStream = Readable & { readonly isTTY?: boolean | undefined };

/** Where a command writes to. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** Environment variables. */
export type Variables = Readonly<Record<string, string | undefined>>;
