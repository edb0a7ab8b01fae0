import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import { tryParse } from '../../../../internal/json.ts';
import { readBoundedText } from '../../../../internal/read-bounded.ts';
import { type CliContext, CliError } from '../../terminal/context.ts';
import { withoutSecrets } from '../../terminal/secret-guard.ts';

/** Node keeps this much of the output of a command. */
const maxReplyBytes = 1_048_576;

interface HandledSource {
  readonly handledUrl: URL | undefined;
  readonly handledCommand: string | undefined;
  readonly timeoutMs: number;
}

/**
 * Asks the owner of a receiver how often it acted on an order. The answer is a number.
 */
export function handledCount(
  context: CliContext,
  { handledUrl, handledCommand, timeoutMs }: HandledSource,
): ((partnerOrderId: string) => Promise<number>) | undefined {
  if (handledUrl !== undefined && handledCommand !== undefined) {
    throw new CliError('--handled-url and --handled-command exclude each other: give one.');
  }
  if (handledUrl !== undefined) {
    return async (id) => readCount('--handled-url', await askUrl(context, handledUrl, timeoutMs, id));
  }
  if (handledCommand !== undefined) {
    return async (id) =>
      readCount('--handled-command', await askCommand(context, handledCommand, timeoutMs, id));
  }
  return undefined;
}

async function askUrl({ fetch, signal }: CliContext, url: URL, timeoutMs: number, id: string) {
  const target = new URL(url);
  target.searchParams.set('partner_order_id', id);
  let response: Response;
  try {
    const timeout = AbortSignal.timeout(timeoutMs);
    response = await fetch(target, { signal: AbortSignal.any([signal, timeout]) });
    if (response.ok) return await readReply(response);
  } catch (cause) {
    signal.throwIfAborted();
    throw new CliError(`--handled-url gave no answer: is ${url.host} running?`, { cause });
  }
  throw new CliError(
    `--handled-url answered ${response.status}: it must answer 200, with 0 for an order that it does not know.`,
  );
}

/** A reply that is too long becomes empty, which is no count. */
async function readReply({ body }: Response): Promise<string> {
  return (await readBoundedText(body, maxReplyBytes)) ?? '';
}

/** Runs the command in a shell, as the user wrote it. The order id is in a variable, so nothing has to be quoted. */
async function askCommand({ env, cwd, signal }: CliContext, command: string, timeoutMs: number, id: string) {
  try {
    const { stdout } = await promisify(exec)(command, {
      cwd,
      env: { ...withoutSecrets(env), PARTNER_ORDER_ID: id },
      signal,
      timeout: timeoutMs,
      windowsHide: true,
    });
    return stdout;
  } catch (cause) {
    signal.throwIfAborted();
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const ending = typeof code === 'number' ? `ended with ${code}` : 'did not end in time';
    throw new CliError(`--handled-command ${ending}: run it yourself with PARTNER_ORDER_ID=${id} set.`, {
      cause,
    });
  }
}

function readCount(option: string, text: string): number {
  const value = tryParse(text);
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new CliError(
    `${option} must give a number and nothing else: how often the order was acted on, such as 2, and 0 for one that it does not know.`,
  );
}
