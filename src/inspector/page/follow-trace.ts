import { headers, type TraceEntry } from './api.ts';

export interface Follower {
  /** Finds out whether it is still the same sandbox, which decides where to go on. */
  prepare(): Promise<void>;
  /** Where to go on. */
  lastId(): number;
  onEntries(entries: readonly TraceEntry[]): void;
  onConnection(isConnected: boolean): void;
}

/** Follows the trace for as long as the page is open. `EventSource` could not send the token. */
export async function followTrace(follower: Follower): Promise<never> {
  for (let failures = 0; ; failures++) {
    try {
      await follower.prepare();
      const response = await fetch(`trace/stream?bodies=false&after=${follower.lastId()}`, {
        headers: headers(),
      });
      if (response.ok && response.body !== null) {
        failures = 0;
        follower.onConnection(true);
        await readEvents(response.body, follower);
      }
    } catch {
      // The server is gone: it is asked again below.
    }
    follower.onConnection(false);
    await new Promise((resolve) => setTimeout(resolve, Math.min(5000, 300 * 2 ** failures)));
  }
}

async function readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { onEntries }: Follower,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + value).split('\n\n');
    rest = events.pop() ?? '';
    const entries = events.flatMap(entryOf);
    if (entries.length > 0) onEntries(entries);
  }
}

function entryOf(event: string): TraceEntry[] {
  const lines = event.split('\n');
  if (!lines[0]?.startsWith('id: ')) return [];
  const data = lines.find((line) => line.startsWith('data: '))?.slice('data: '.length);
  // Sound: the stream's form, which its tests check.
  return data === undefined ? [] : [JSON.parse(data) as TraceEntry];
}
