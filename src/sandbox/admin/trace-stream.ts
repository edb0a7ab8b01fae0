import type { TraceEntry } from '../trace/trace-entry.ts';
import type { SandboxTrace } from '../trace/trace-log.ts';
import { extentOf } from './read-endpoints.ts';

interface StreamOptions {
  /** Begins behind this entry. */
  readonly after: number;
  /** What is told of an entry. */
  readonly show: (entry: TraceEntry) => object;
  readonly onEnd: () => void;
}

/**
 * The trace as server-sent events, each entry with its id. It is pulled: a reader that is slower than the trace holds
 * back nothing and fills no memory; what is forgotten meanwhile it is told in a `forgotten` event.
 */
export function traceStream(
  trace: SandboxTrace,
  { after, show, onEnd }: StreamOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const { lastId } = extentOf(trace);
  // An id from before a restart of the sandbox: begin at the beginning.
  let last = after > lastId ? 0 : after;
  const ended = new AbortController();
  const entries = trace.follow({ after: last, signal: ended.signal });
  return new ReadableStream(
    {
      start(controller) {
        controller.enqueue(encoder.encode('retry: 1000\n\n'));
      },
      async pull(controller) {
        const { done, value: entry } = await entries.next();
        if (done || entry === undefined) return controller.close();
        const missed =
          entry.id > last + 1
            ? `event: forgotten\ndata: ${JSON.stringify({ after: last, before: entry.id })}\n\n`
            : '';
        last = entry.id;
        const data = JSON.stringify(show(entry));
        controller.enqueue(encoder.encode(`${missed}id: ${entry.id}\ndata: ${data}\n\n`));
      },
      cancel() {
        ended.abort();
        onEnd();
      },
    },
    { highWaterMark: 1 },
  );
}
