import type { BulkProgress } from '../../../../bulk/bulk-progress.ts';
import type { BulkResult } from '../../../../bulk/bulk-rows.ts';
import type { BulkRun } from '../../../../bulk/send-bulk.ts';
import { printableText } from '../../../../internal/printable-text.ts';
import { type CliContext, CliError, type ExitCode, exitCodes } from '../../terminal/context.ts';
import { describeFailure } from '../../terminal/failure-line.ts';
import { type Output, type Progress, startProgress } from '../../terminal/output.ts';
import type { Paint } from '../../terminal/terminal-text.ts';

/** Prints the result of each row and the progress of a bulk run, and returns the exit code. */
export async function reportBulkRun(
  context: CliContext,
  output: Output,
  { run, isDryRun }: { readonly run: BulkRun; readonly isDryRun: boolean },
): Promise<ExitCode> {
  const progress = startProgress(context);
  const show = () => progress.update(describeBulkProgress(run.progress, { withBar: progress.isTerminal }));
  const stop = () => {
    run.stop();
    progress.stop();
    output.status(
      'Stopping when the messages under way are settled. Ctrl-C again ends at once, and leaves them unknown.',
    );
  };
  const ended = new AbortController();
  const ticking = updateEverySecond(context, ended.signal, show);
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
  output.status((paint) => describeBulkSummary(run.progress, { isDryRun, paint }));
  if (context.signal.aborted || failure !== undefined)
    output.status('The same command goes on where this one stood.');
  if (failure !== undefined) throw failureOf(failure.error, run.progress);
  return exitCodeOf(run.progress, isDryRun);
}

/** Shows progress also while no row ends: the service may ask for a long pause. */
async function updateEverySecond({ sleep }: CliContext, ended: AbortSignal, show: () => void): Promise<void> {
  while (!ended.aborted) {
    await sleep(1000, ended);
    if (!ended.aborted) show();
  }
}

/** People see the rows that they have to look at; programs get every row. */
function isShown({ state }: BulkResult, { format }: Output, isDryRun: boolean): boolean {
  return format === 'json' || !(state === 'sent' || (isDryRun && state === 'not-sent'));
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

/** A message that may have been sent matters more than the error that ended the run. */
function failureOf(error: unknown, { unknown }: BulkProgress): unknown {
  if (unknown === 0) return error;
  const { message } = describeFailure(error);
  return new CliError(message, { exitCode: exitCodes.unknownOutcome, cause: error });
}

function exitCodeOf(
  { unknown, refused, invalid, 'not-sent': notSent }: BulkProgress,
  isDryRun: boolean,
): ExitCode {
  if (unknown > 0) return exitCodes.unknownOutcome;
  const isComplete = refused + invalid + (isDryRun ? 0 : notSent) === 0;
  return isComplete ? exitCodes.ok : exitCodes.findings;
}

const barWidth = 20;

function describeBulkProgress(progress: BulkProgress, { withBar }: { withBar: boolean }): string {
  const { done, total, perSecond, remainingMs } = progress;
  const parts = [total === undefined ? `${done} done` : `${done} of ${total}`];
  if (perSecond > 0) parts.push(`${perSecond.toFixed(1)}/s`);
  if (remainingMs !== undefined && remainingMs > 0) parts.push(`${describeTime(remainingMs)} left`);
  for (const state of ['refused', 'not-sent', 'unknown', 'invalid'] as const) {
    if (progress[state] > 0) parts.push(`${progress[state]} ${nameOf(state)}`);
  }
  const text = parts.join(', ');
  return withBar && total ? `${bar(Math.min(1, done / total))} ${text}` : text;
}

function describeBulkSummary(
  progress: BulkProgress,
  { isDryRun, paint }: { isDryRun: boolean; paint: Paint },
): string {
  const states = ['sent', 'refused', 'not-sent', 'unknown', 'duplicate', 'invalid'] as const;
  const counts = states
    .filter((state) => progress[state] > 0)
    .map(
      (state) => `${progress[state]} ${isDryRun && state === 'not-sent' ? 'would be sent' : nameOf(state)}`,
    );
  const before = progress.replayed > 0 ? ` (${progress.replayed} in an earlier run)` : '';
  const text = `${counts.join(', ') || 'no rows'}${before}.`;
  if (progress.unknown === 0) return text;
  return `${text}\n${paint('yellow', 'unknown')}: those may have been sent. Ask their receivers; --repeat unknown sends to them again.`;
}

function nameOf(state: string): string {
  return state.replace('-', ' ');
}

function bar(share: number): string {
  const filled = Math.round(share * barWidth);
  return `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${String(Math.floor(share * 100)).padStart(3)}%`;
}

function describeTime(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
