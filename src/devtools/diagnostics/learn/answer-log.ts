import { type RowObservation, speaksFor } from './evidence.ts';

/** What followed the answer to an event. */
export interface AnsweredEvent {
  /** The status of the first answer. */
  readonly status: number;
  /** Milliseconds until it came again; `undefined` if it did not. */
  readonly pauseMs: number | undefined;
  /** How long after the answer the service sent an event that was new: so long its absence was watched. */
  readonly watchedMs: number;
}

const maxEvents = 10_000;
/** The absence of a repetition counts after this time alone. */
const absenceMs = 3_600_000;

/** Remembers the answers to the last events, a bounded number of them. */
export function createAnswerLog() {
  const entries = new Map<
    string,
    { status: number; at: number; since: string; pauseMs: number | undefined }
  >();
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    note(digest: string, { answered, since, isNew }: NotedAnswer): void {
      const at = Date.parse(since ?? '');
      if (Number.isNaN(at)) return;
      if (isNew && at > lastAt) lastAt = at;
      const entry = entries.get(digest);
      if (entry !== undefined) {
        entry.pauseMs ??= at - entry.at;
        return;
      }
      if (answered === undefined || since === undefined) return;
      entries.set(digest, { status: answered, at, since, pauseMs: undefined });
      const [oldest] = entries.keys();
      if (entries.size > maxEvents && oldest !== undefined) entries.delete(oldest);
    },
    *events(): Generator<{ digest: string; since: string; event: AnsweredEvent }> {
      for (const [digest, { status, at, since, pauseMs }] of entries)
        yield { digest, since, event: { status, pauseMs, watchedMs: lastAt - at } };
    },
  };
}

export interface NotedAnswer {
  readonly answered: number | undefined;
  readonly since: string | undefined;
  /** Whether the service sent the event now. Anybody can post one again that came before. */
  readonly isNew: boolean;
}

/** Which answers the service takes for received. */
export function observeAnswer({ status, pauseMs, watchedMs }: AnsweredEvent): RowObservation | undefined {
  const isReceived = status >= 200 && status <= 299;
  if (pauseMs === undefined) {
    if (!isReceived || watchedMs < absenceMs) return undefined;
    return speaksFor(status === 200 ? 'once after 200' : 'once after another 2xx than 200');
  }
  if (!isReceived) return speaksFor('again after no 2xx');
  // A service may send an event twice whatever it was answered.
  const found = `again after ${status}`;
  return { speaks: status === 200 ? 'open' : 'against', found };
}

/** What happens after an answer that is none. */
export function observeRetry({ status, pauseMs, watchedMs }: AnsweredEvent): RowObservation | undefined {
  if (status < 300) return undefined;
  if (pauseMs !== undefined) return speaksFor(`after ${status} again, ${durationOf(pauseMs)}`);
  return watchedMs < absenceMs ? undefined : speaksFor(`after ${status} never again`);
}

/** In the largest unit that fits, without fractions. */
function durationOf(ms: number): string {
  if (ms < 1000) return 'at once';
  if (ms < 120_000) return `${Math.round(ms / 1000)} s later`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min later`;
  return `${Math.round(ms / 3_600_000)} h later`;
}
