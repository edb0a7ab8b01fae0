import type { TraceEntry } from '../sandbox/world/trace.ts';
import { headers } from './api.ts';

interface Follower {
  /** Reads the state, and forgets the rows of an earlier run of the server. Rejects if the server does not answer. */
  readState(): Promise<void>;
  /** The entry after which the stream begins. */
  lastId(): number;
  onEntries(entries: readonly TraceEntry[]): void;
  onConnection(isConnected: boolean): void;
}

/**
 * Follows the trace while the page is shown. Over HTTP/1.1 a browser has six connections to a server, and a stream holds
 * one: so a hidden tab closes its stream, and catches up when it is shown again.
 */
export function followTrace({ readState, lastId, onEntries, onConnection }: Follower): void {
  let connection = new AbortController();
  let failures = 0;

  async function follow(signal: AbortSignal): Promise<void> {
    await readState();
    const path = `trace/stream?bodies=false&after=${lastId()}`;
    const response = await fetch(path, { headers: headers(), signal });
    if (!response.ok || response.body === null) throw new Error(`The stream answers ${response.status}.`);
    failures = 0;
    onConnection(true);
    for await (const entries of readEvents(response.body)) onEntries(entries);
  }

  async function run(): Promise<never> {
    for (;;) {
      await untilShown();
      connection = new AbortController();
      const { signal } = connection;
      // The server is gone, or refuses this tab: the loop asks again.
      await follow(signal).catch(() => {});
      if (signal.aborted) continue;
      onConnection(false);
      await pause(Math.min(5000, 300 * 2 ** failures++), signal);
    }
  }

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) connection.abort();
  });
  void run();
}

function pause(ms: number, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener('abort', resolve, { once: true });
  });
}

async function untilShown(): Promise<void> {
  while (document.hidden) {
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
  }
}

/** The entries of each piece of a stream of server-sent events. `EventSource` could not send the token. */
async function* readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<TraceEntry[]> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + value).split('\n\n');
    rest = events.pop() ?? '';
    const entries = events.flatMap(entryOf);
    if (entries.length > 0) yield entries;
  }
}

function entryOf(event: string): TraceEntry[] {
  const data = /^id: \d+\ndata: (.*)$/.exec(event)?.[1];
  // Sound: the stream's form, which its tests check.
  return data === undefined ? [] : [JSON.parse(data) as TraceEntry];
}
