import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { isJsonObject, tryParse } from '../../../internal/json.ts';
import { type CapturedReply, readCapturedReply } from '../../diagnostics/learn/captured-reply.ts';
import { readFile, shownPath } from '../inputs/input.ts';
import { type CliContext, CliError } from '../terminal/context.ts';
import { describeFailure } from '../terminal/failure-line.ts';
import type { Output } from '../terminal/output.ts';
import { eachDelivery, expandPaths, type NamedDelivery, parseBytes } from './saved-deliveries.ts';

/** The deliveries and replies of files and folders, read one after the other. Without paths deliveries come on stdin. */
export async function samplesIn(context: CliContext, output: Output, paths: readonly string[]) {
  const onProblem: OnProblem = ({ source, error }) =>
    output.warn(`${shownPath(source)} was left out: ${describeFailure(error).message}`);
  const files = await expandPaths(context, paths, /\.jsonl?$/);
  const isReplies = (file: string) => file.endsWith('.jsonl');
  return {
    deliveries: deliveriesOf(
      context,
      files.filter((file) => !isReplies(file)),
      onProblem,
    ),
    replies: repliesOf(context, files.filter(isReplies), onProblem),
  };
}

type OnProblem = (problem: { readonly source: string; readonly error: unknown }) => void;

async function* deliveriesOf(
  context: CliContext,
  files: readonly string[],
  onProblem: OnProblem,
): AsyncGenerator<NamedDelivery> {
  for await (const delivery of eachDelivery(context, files, onProblem)) {
    const flaw = delivery.receivedAt === undefined ? flawOf(delivery.body) : undefined;
    if (flaw === undefined) yield delivery;
    else onProblem({ source: delivery.source, error: new CliError(flaw) });
  }
}

/** Why a file that is no saved delivery is no bare body of an event either. */
function flawOf(body: Uint8Array): string | undefined {
  const value = parseBytes(body);
  if (value === undefined) return 'it is not JSON: it may be cut off.';
  return isJsonObject(value) && 'signature' in value
    ? undefined
    : 'it is JSON, but no saved delivery and no signed body.';
}

async function* repliesOf(
  context: CliContext,
  files: readonly string[],
  onProblem: OnProblem,
): AsyncGenerator<CapturedReply> {
  for (const file of files) {
    let number = 0;
    try {
      const lines = createInterface({
        input: Readable.from(readFile(context, file)),
        crlfDelay: Number.POSITIVE_INFINITY,
      });
      for await (const line of lines) {
        number++;
        if (line.trim() === '') continue;
        const reply = readCapturedReply(tryParse(line));
        if (reply !== undefined) yield reply;
        else
          onProblem({
            source: `${file}, line ${number}`,
            error: new CliError('it is not a reply: it may be cut off.'),
          });
      }
    } catch (error) {
      onProblem({ source: file, error });
    }
  }
}
