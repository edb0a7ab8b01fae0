import { type FileHandle, open, rm } from 'node:fs/promises';
import { isRequestError, type RequestError } from '../../../errors/errors.ts';
import { printableText } from '../../../internal/printable-text.ts';
import { hidden, holdsKey, redactQuote } from '../../../internal/redact-credentials.ts';
import type { Output } from './output.ts';
import { visibleText } from './terminal-text.ts';

/** Members of a reply that may hold a credential. */
const secretName = /auth|cookie|credential|key|link|pass|pwd|secret|session|token/i;

/** A reply's body as it may be shown: its members are not documented. */
export function redactedReply(body: unknown, depth = 0): unknown {
  if (typeof body === 'string') return redactQuote(body);
  if (typeof body !== 'object' || body === null) return body;
  if (depth > 32) return hidden;
  if (Array.isArray(body)) return body.map((item) => redactedReply(item, depth + 1));
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      secretName.test(name) && value !== null && typeof value !== 'boolean'
        ? hidden
        : redactedReply(value, depth + 1),
    ]),
  );
}

/** Prints the service's reply, redacted, after a label. */
export function showReply(
  output: Output,
  word: string,
  { status, body }: { readonly status: number; readonly body: unknown },
): void {
  output.result({ status, body: redactedReply(body) }, (paint) => [
    `${paint('green', word)} with status ${status}: ${replyLine(body)}`,
  ]);
}

export function replyLine(body: unknown): string {
  if (body === undefined) return 'nothing';
  return printableText(JSON.stringify(redactedReply(body))).slice(0, 2_000);
}

/**
 * Writes the body of a reply into a new file for its owner alone, and returns whether there was a body. The file is
 * made before the request, since a reply that cannot be kept would be lost, and removed if the service refuses.
 */
export async function keepReply(path: string, request: () => Promise<unknown>): Promise<boolean> {
  const file = await open(path, 'wx', 0o600);
  let isKept = false;
  try {
    isKept = await write(file, await request());
  } catch (error) {
    // The reply to a call that may have acted can still contain the key.
    if (isRequestError(error) && mayHoldKey(error)) isKept = await write(file, error.body);
    throw error;
  } finally {
    if (!isKept) await rm(path);
    await file.close();
  }
  return isKept;
}

function mayHoldKey({ outcome, body }: RequestError): boolean {
  return outcome !== 'refused' || holdsKey(JSON.stringify(body) ?? '');
}

async function write(file: FileHandle, body: unknown): Promise<boolean> {
  if (body === undefined) return false;
  await file.writeFile(visibleText(`${JSON.stringify(body, null, 2)}\n`));
  await file.sync();
  return true;
}
