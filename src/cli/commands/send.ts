import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import type { BulkRepeat } from '../../bulk/bulk-options.ts';
import type { BulkProgress } from '../../bulk/bulk-progress.ts';
import type { BulkResult, BulkRow } from '../../bulk/bulk-row.ts';
import { readBulkCsv } from '../../bulk/read-bulk-csv.ts';
import { type BulkRun, sendBulk } from '../../bulk/send-bulk.ts';
import { MessengerClient } from '../../messenger/messenger-client.ts';
import { printableText } from '../../redaction/printable-text.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import type { RecordStore } from '../../store/record-store.ts';
import type { CliContext } from '../context/cli-context.ts';
import { CliError } from '../context/cli-error.ts';
import { type ExitCode, exitCodes } from '../context/exit-code.ts';
import { askToGoOn, type ConfirmFlags, checkCanAsk } from '../input/confirm.ts';
import { withStore } from '../input/open-store.ts';
import { readConfiguration } from '../input/read-keys.ts';
import { requireAddress } from '../input/require-address.ts';
import { secretOrAsk } from '../input/secret-or-ask.ts';
import { readPlace, type StorePlace } from '../input/store-place.ts';
import { describeBulkProgress, describeBulkSummary } from '../output/bulk-progress.ts';
import { describeFailure } from '../output/describe-failure.ts';
import { type Output, openOutput } from '../output/output.ts';
import { type Progress, startProgress } from '../output/progress.ts';
import type { CommonFlags, FormatFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface SendFlags extends CommonFlags, FormatFlags, ConfirmFlags {
  readonly campaign: string;
  readonly store?: string | undefined;
  readonly column?: readonly CsvColumn[] | undefined;
  readonly template?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly rate: number;
  readonly concurrency: number;
  readonly stopAfter: number;
  readonly repeat?: readonly BulkRepeat[] | undefined;
  readonly country?: string | undefined;
  readonly total?: number | undefined;
  readonly dryRun: boolean;
}

/** What is in which column. */
export interface CsvColumn {
  readonly member: 'to_phone' | 'message' | 'key';
  readonly column: string;
}

/** Sends a message to each row of a CSV file. */
export const send: RunCommand<SendFlags, [path: string]> = async (context, flags, path) => {
  const output = openOutput(context, flags);
  const isStdin = path === '-';
  const { dryRun, campaign } = flags;
  if (!dryRun) checkCanAsk(context, { ...flags, isStdinTaken: isStdin });
  if (isStdin && flags.store === undefined)
    throw new CliError('Rows from stdin have no place beside them: name the store with --store.');
  const place = readPlace(context, flags.store ?? `${path}.sqlite`);
  // Everything that is wrong with the file as a whole shows before a message is sent.
  const total = flags.total ?? (isStdin ? undefined : await countRows(rowsOf(context, flags, path)));
  const device = dryRun ? undefined : await openDevice(context, flags.concurrency);
  if (!dryRun) {
    const rows = total === undefined ? 'all rows' : `${total} rows`;
    await askToGoOn(
      context,
      flags,
      `Send ${rows} of ${printableText(path)} as "${printableText(campaign)}"?`,
    );
  }
  const run = async (store: RecordStore) => {
    const options = { campaign, store, total, now: context.now, sleep: context.sleep };
    return await follow(context, output, {
      isDryRun: dryRun,
      run: sendBulk({
        ...options,
        messenger: device ?? { sendMessage: neverSent },
        rows: rowsOf(context, flags, path),
        messagesPerSecond: flags.rate,
        concurrency: flags.concurrency,
        stopAfterFailures: flags.stopAfter,
        repeat: flags.repeat?.length ? flags.repeat : undefined,
        dryRun,
        country: flags.country,
      }),
    });
  };
  // A dry run makes no file.
  if (dryRun && isNew(place)) return await run(memoryStore({ now: context.now }));
  return await withStore(context, place, run);
};

function isNew(place: StorePlace): boolean {
  return place.kind === 'file' && !place.isThere;
}

function neverSent(): Promise<never> {
  return Promise.reject(new CliError('A dry run sends nothing.'));
}

async function openDevice(context: CliContext, concurrency: number): Promise<MessengerClient> {
  const { deployment, apiKey: given } = await readConfiguration(context);
  requireAddress(deployment, 'sendMessage');
  const question = 'API key of the device';
  const apiKey = await secretOrAsk(context, { variable: 'MESSENGER_API_KEY', given, question });
  return new MessengerClient({ deployment, apiKey, concurrency, fetch: context.fetch });
}

function rowsOf(context: CliContext, flags: SendFlags, path: string): AsyncIterable<BulkRow> {
  const { template, delimiter, column = [] } = flags;
  const source = path === '-' ? context.stdin : createReadStream(resolve(context.cwd, path));
  const columns = Object.fromEntries(column.map(({ member, column }) => [member, column]));
  return readBulkCsv(source, { columns, template, delimiter });
}

async function countRows(rows: AsyncIterable<BulkRow>): Promise<number> {
  let count = 0;
  for await (const _ of rows) count++;
  return count;
}

/** Prints what comes of each row, and says how far it is. */
async function follow(
  context: CliContext,
  output: Output,
  { run, isDryRun }: { readonly run: BulkRun; readonly isDryRun: boolean },
): Promise<ExitCode> {
  const progress = startProgress(context);
  const show = () => progress.update(describeBulkProgress(run.progress, { withBar: progress.isTerminal }));
  const stop = () => {
    run.stop();
    progress.stop();
    output.say(
      'Stopping when the messages under way are settled. Ctrl-C again ends at once, and leaves them unknown.',
    );
  };
  const ended = new AbortController();
  const ticking = tick(context, ended.signal, show);
  context.signal.addEventListener('abort', stop, { once: true });
  if (context.signal.aborted) stop();
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const result of run) {
      if (isShown(result, output, isDryRun)) print(result, { output, progress });
      show();
    }
  } catch (error) {
    failure = { error };
  }
  context.signal.removeEventListener('abort', stop);
  ended.abort();
  await ticking;
  progress.stop();
  output.say((paint) => describeBulkSummary(run.progress, { isDryRun, paint }));
  if (context.signal.aborted || failure !== undefined)
    output.say('The same command goes on where this one stood.');
  if (failure !== undefined) throw failureOf(failure.error, run.progress);
  return exitCodeOf(run.progress, isDryRun);
}

/** Also while nothing comes of any row: the service may ask for a long pause. */
async function tick({ sleep }: CliContext, ended: AbortSignal, show: () => void): Promise<void> {
  while (!ended.aborted) {
    await sleep(1000, ended);
    if (!ended.aborted) show();
  }
}

/** People want to see what they have to look at; programs want every row. */
function isShown({ state }: BulkResult, { format }: Output, isDryRun: boolean): boolean {
  return format === 'json' || !(state === 'sent' || (isDryRun && state === 'not_sent'));
}

function print(result: BulkResult, { output, progress }: { output: Output; progress: Progress }): void {
  progress.stop();
  output.item(result, (paint) => {
    const { key, state, code, status, problem } = result;
    const why = [problem ?? code, status && `status ${status}`].filter(Boolean).join(', ');
    const style = state === 'duplicate' ? 'dim' : state === 'unknown' ? 'yellow' : 'red';
    return `${paint(style, state.padEnd(9))} ${printableText(key)}${why && `: ${printableText(why)}`}`;
  });
}

/** A message that may have been sent outweighs what ended the run. */
function failureOf(error: unknown, { unknown }: BulkProgress): unknown {
  if (unknown === 0) return error;
  const { message } = describeFailure(error);
  return new CliError(message, { exitCode: exitCodes.unknownOutcome, cause: error });
}

function exitCodeOf({ unknown, refused, invalid, not_sent }: BulkProgress, isDryRun: boolean): ExitCode {
  if (unknown > 0) return exitCodes.unknownOutcome;
  const isComplete = refused + invalid + (isDryRun ? 0 : not_sent) === 0;
  return isComplete ? exitCodes.ok : exitCodes.findings;
}
