import { get, headers, type ListedEntry } from './api.ts';

interface Follower {
  /** Reads the state, and forgets the rows of an earlier run of the server. Rejects if the server does not answer. */
  readState(): Promise<void>;
  lastId(): number;
  onEntries(entries: readonly ListedEntry[]): void;
  onConnection(isConnected: boolean): void;
}

type Note = 'open' | 'broken' | readonly ListedEntry[];

/**
 * Follows the trace while the page is open. Over HTTP/1.1 a browser has six connections to a server, and a stream holds
 * one: so the tab with the lock reads the stream for all tabs, and when it closes or crashes, the next tab gets the lock.
 * A tab reads the state by itself before it listens to the others, so that none sees more than its token allows.
 *
 * @returns joins again, with another token
 */
export function followTrace(follower: Follower): () => void {
  const { readState, lastId, onEntries, onConnection } = follower;
  const name = `inspector ${location.pathname}`;
  const channel = new BroadcastChannel(name);
  // Absent where the page comes from another machine over HTTP: each tab then has its own stream.
  const locks: LockManager | undefined = navigator.locks;
  let isAdmitted = false;
  let lastTask: Promise<void> = Promise.resolve();

  /** One task after another, so that entries arrive in order. */
  function enqueue(task: () => Promise<void>): Promise<void> {
    lastTask = lastTask.catch(() => {}).then(task);
    return lastTask;
  }

  async function join(): Promise<void> {
    isAdmitted = false;
    await readState();
    await catchUp();
    isAdmitted = true;
    onConnection(true);
  }

  async function catchUp(): Promise<void> {
    for (;;) {
      const path = `trace?bodies=false&limit=1000&after=${lastId()}`;
      const { entries } = await get<{ entries: ListedEntry[] }>(path);
      if (entries.length === 0) return;
      onEntries(entries);
    }
  }

  async function take(entries: readonly ListedEntry[]): Promise<void> {
    if (!isAdmitted) return;
    if ((entries[0]?.id ?? 0) > lastId() + 1) await catchUp();
    const unread = entries.filter(({ id }) => id > lastId());
    if (unread.length > 0) onEntries(unread);
  }

  channel.addEventListener('message', ({ data }: MessageEvent<Note>) => {
    if (data === 'broken') onConnection(false);
    else enqueue(data === 'open' ? join : () => take(data)).catch(() => {});
  });

  function announce(note: Note): void {
    channel.postMessage(note);
    if (note === 'broken') onConnection(false);
    else if (note !== 'open') void enqueue(() => take(note));
  }

  async function lead(): Promise<void> {
    try {
      // The lock may have come after hours, and after a restart of the server.
      await enqueue(join);
      const response = await fetch(`trace/stream?bodies=false&after=${lastId()}`, { headers: headers() });
      if (!response.ok || response.body === null) return;
      announce('open');
      for await (const entries of readEvents(response.body)) announce(entries);
    } finally {
      announce('broken');
    }
  }

  async function run(): Promise<never> {
    for (let failures = 0; ; failures++) {
      try {
        await enqueue(join);
        failures = 0;
        await (locks === undefined ? lead() : locks.request(name, lead));
      } catch {
        // The server is gone, or refuses this tab: the loop asks again.
        onConnection(false);
      }
      await new Promise((resolve) => setTimeout(resolve, Math.min(5000, 300 * 2 ** failures)));
    }
  }

  void run();
  return () => void enqueue(join).catch(() => {});
}

/** The entries of each piece of a stream of server-sent events. `EventSource` could not send the token. */
async function* readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<ListedEntry[]> {
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

function entryOf(event: string): ListedEntry[] {
  const lines = event.split('\n');
  if (!lines[0]?.startsWith('id: ')) return [];
  const data = lines.find((line) => line.startsWith('data: '))?.slice('data: '.length);
  // Sound: the stream's form, which its tests check.
  return data === undefined ? [] : [JSON.parse(data) as ListedEntry];
}
