import type * as z from 'zod';
import { isJsonObject } from '../../../../internal/json.ts';
import { printableText } from '../../../../internal/printable-text.ts';
import { readBoundedText } from '../../../../internal/read-bounded.ts';
import { sandboxOperations } from '../../../sandbox/control/sandbox-endpoints.ts';
import { type CliContext, CliError, exitCodes } from '../../terminal/context.ts';
import type { RunningSandbox } from './running-sandboxes.ts';

type Operation = ReturnType<typeof sandboxOperations>[number];
type OperationId = Operation['id'];
type OperationOf<Id extends OperationId> = Extract<Operation, { id: Id }>;

export type AnswerTo<Id extends OperationId> = z.output<OperationOf<Id>['answer']>;

type InputOf<Id extends OperationId> = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
} & (OperationOf<Id>['body'] extends z.ZodType
  ? { readonly body: z.input<OperationOf<Id>['body']> }
  : object);

/** A thousand orders take less. */
const maxAnswerBytes = 64 * 1024 * 1024;

/**
 * Calls the control API of a running sandbox.
 *
 * @throws {CliError} in the words of the sandbox if it refuses, and if it cannot be reached
 */
export async function callSandbox<Id extends OperationId>(
  { fetch, signal }: CliContext,
  { url, token }: RunningSandbox,
  id: Id,
  input: InputOf<Id>,
): Promise<AnswerTo<Id>> {
  // Sound: the ids are those of the table.
  const { method, path, answer } = sandboxOperations().find((each) => each.id === id) as Operation;
  const { params = {}, query = {} } = input;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const target = new URL(`/_sandbox/${filled}`, url);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) target.searchParams.set(name, String(value));
  }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = 'body' in input ? JSON.stringify(input.body) : null;
  let reply: { isOk: boolean; value: unknown };
  try {
    const response = await fetch(target, { method, headers, body, signal, redirect: 'error' });
    reply = {
      isOk: response.ok,
      value: JSON.parse((await readBoundedText(response.body, maxAnswerBytes)) ?? ''),
    };
  } catch (cause) {
    signal.throwIfAborted();
    throw new CliError(`The sandbox at ${url} gave no answer: it may have ended.`, { cause });
  }
  const { isOk, value } = reply;
  if (!isOk) {
    const reason = isJsonObject(value) && typeof value.message === 'string' ? value.message : 'no reason';
    throw new CliError(`The sandbox refused this: ${printableText(reason)}`, {
      exitCode: exitCodes.findings,
    });
  }
  const parsed = answer.safeParse(value);
  // Sound: the schema is that of the operation with this id.
  if (parsed.success) return parsed.data as AnswerTo<Id>;
  throw new CliError(
    `The sandbox at ${url} answers in a form that is not known here: start it with this version of the package.`,
  );
}
