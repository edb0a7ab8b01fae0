import type { BulkProgress } from '../../bulk/bulk-progress.ts';
import type { Paint } from './paint.ts';

const barWidth = 20;

/** How far a bulk run is, in one line. */
export function describeBulkProgress(progress: BulkProgress, { withBar }: { withBar: boolean }): string {
  const { done, total, perSecond, remainingMs } = progress;
  const parts = [total === undefined ? `${done} done` : `${done} of ${total}`];
  if (perSecond > 0) parts.push(`${perSecond.toFixed(1)}/s`);
  if (remainingMs !== undefined && remainingMs > 0) parts.push(`${describeTime(remainingMs)} left`);
  for (const state of ['refused', 'not_sent', 'unknown', 'invalid'] as const) {
    if (progress[state] > 0) parts.push(`${progress[state]} ${nameOf(state)}`);
  }
  const text = parts.join(', ');
  return withBar && total ? `${bar(Math.min(1, done / total))} ${text}` : text;
}

/** What came of a bulk run. */
export function describeBulkSummary(
  progress: BulkProgress,
  { isDryRun, paint }: { isDryRun: boolean; paint: Paint },
): string {
  const states = ['sent', 'refused', 'not_sent', 'unknown', 'duplicate', 'invalid'] as const;
  const counts = states
    .filter((state) => progress[state] > 0)
    .map(
      (state) => `${progress[state]} ${isDryRun && state === 'not_sent' ? 'would be sent' : nameOf(state)}`,
    );
  const before = progress.replayed > 0 ? ` (${progress.replayed} in an earlier run)` : '';
  const text = `${counts.join(', ') || 'no rows'}${before}.`;
  if (progress.unknown === 0) return text;
  return `${text}\n${paint('yellow', 'unknown')}: those may have been sent. Ask their receivers; --repeat unknown sends to them again.`;
}

function nameOf(state: string): string {
  return state.replace('_', ' ');
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
