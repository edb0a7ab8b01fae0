import { printableText } from '../internal/printable-text.ts';
import type { SandboxOperation } from './faults/faults.ts';

/**
 * What happened on the wire of a sandbox. `request`: to the service; `reply`: of the service; `event`: posted to a
 * partner; `event_reply`: of the partner; `fault`: what was played, before what it affects.
 */
export type TraceKind = 'request' | 'reply' | 'event' | 'event_reply' | 'fault';

/** One thing that happened on the wire of a sandbox. What does not apply to its kind is `undefined`. */
export interface TraceEntry {
  /** Counts up from 1, without gaps. */
  readonly id: number;
  readonly kind: TraceKind;
  /** Milliseconds since the epoch, on the sandbox's clock. */
  readonly time: number;
  /** The `id` of the request or event that this belongs to; its own for those. */
  readonly exchange: number;
  /** The operation at the request's address; `undefined` where there is none, and for events. */
  readonly operation: SandboxOperation | undefined;
  /** `event_name` of an event. */
  readonly event: string | undefined;
  /** The id in `sandbox.deliveries` of an event. */
  readonly delivery: string | undefined;
  /** `partner_order_id` of the order that it is about, where that is known. */
  readonly order: string | undefined;
  readonly method: string | undefined;
  readonly url: string | undefined;
  /** HTTP status of a reply; `undefined` if none arrived. */
  readonly status: number | undefined;
  /** Milliseconds from the request to its reply, or from the event to its answer, on the sandbox's clock. */
  readonly durationMs: number | undefined;
  /** As sent, secrets included: the sandbox's keys open nothing but the sandbox. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** The exact text of the body; bytes that are not UTF-8 are shown as U+FFFD. */
  readonly body: string | undefined;
  /** The faults of a request or an event, in one word each. */
  readonly faults: readonly string[];
  /** Why an event was not answered (`ECONNREFUSED`), or what a fault does. */
  readonly note: string | undefined;
}

/** What a part of the sandbox tells the trace. */
type TraceFacts = Pick<TraceEntry, 'kind'> &
  Partial<Omit<TraceEntry, 'id' | 'time' | 'kind'>> & { readonly exchange?: number | undefined };

/** Everything that went over the wire of a sandbox, in order. */
export interface SandboxTrace extends Iterable<TraceEntry> {
  /**
   * What is kept, oldest first: at most as many entries as `maxRemembered`, and at most 64 MiB of bodies. Older ones are
   * forgotten.
   */
  readonly entries: readonly TraceEntry[];
  /** How many entries were forgotten. */
  readonly forgotten: number;
  /** Calls the listener with each entry from now on, at once. Returns what ends that. A listener must not throw. */
  readonly subscribe: (listener: (entry: TraceEntry) => void) => () => void;
  /**
   * Entries one after another, first those that are kept, then each new one, until the signal is aborted. A slow reader
   * misses what is forgotten meanwhile: the ids then have a gap.
   */
  readonly follow: (options?: {
    /** Begins behind this entry. @default 0: with the oldest that is kept */
    after?: number | undefined;
    signal?: AbortSignal | undefined;
  }) => AsyncIterableIterator<TraceEntry>;
  /** Forgets every entry; ids go on counting. */
  readonly clear: () => void;
  /**
   * The seed and the last entries as text, one on each line, without headers and bodies: for the output of a test that
   * failed. Texts that others have chosen, such as order ids, are shown without control characters.
   */
  readonly text: (options?: { last?: number | undefined }) => string;
}

/** The trace, and what only the sandbox itself may do with it. */
export interface TraceLog {
  /** Adds an entry and returns its id. */
  add(facts: TraceFacts): number;
  readonly view: SandboxTrace;
}

/** Characters of bodies that are kept in all. A constant: one large body in each entry would fill any memory. */
const maxText = 64 * 1024 * 1024;

export function createTraceLog(options: { now: () => number; maxEntries: number; seed: string }): TraceLog {
  const { now, maxEntries, seed } = options;
  const listeners = new Set<(entry: TraceEntry) => void>();
  /** A queue: entries before `start` are forgotten and `undefined`, until there are enough of them to cut off. */
  let kept: (TraceEntry | undefined)[] = [];
  let start = 0;
  let lastId = 0;
  let textSize = 0;

  function forgetOne(): void {
    textSize -= kept[start]?.body?.length ?? 0;
    kept[start] = undefined;
    start += 1;
    if (start < 1024 || start * 2 < kept.length) return;
    kept = kept.slice(start);
    start = 0;
  }

  /** Where the entry behind this one is, or the oldest that is kept. */
  function indexAfter(id: number): number {
    const forgotten = lastId - (kept.length - start);
    return start + Math.max(0, id - forgotten);
  }

  function entriesAfter(id: number): TraceEntry[] {
    return kept.slice(indexAfter(id)).filter((entry) => entry !== undefined);
  }

  function add(facts: TraceFacts): number {
    lastId += 1;
    const entry: TraceEntry = Object.freeze({
      ...{ operation: undefined, event: undefined, delivery: undefined, order: undefined },
      ...{ method: undefined, url: undefined, status: undefined, durationMs: undefined },
      ...{ headers: undefined, body: undefined, faults: [], note: undefined },
      ...facts,
      id: lastId,
      time: now(),
      exchange: facts.exchange ?? lastId,
    });
    kept.push(entry);
    textSize += entry.body?.length ?? 0;
    while (kept.length - start > maxEntries || (textSize > maxText && kept.length - start > 1)) forgetOne();
    for (const listener of listeners) listener(entry);
    return lastId;
  }

  function subscribe(listener: (entry: TraceEntry) => void): () => void {
    // A function of its own for each call: the same listener may subscribe twice.
    const own = (entry: TraceEntry) => listener(entry);
    listeners.add(own);
    return () => listeners.delete(own);
  }

  async function* follow({
    after = 0,
    signal,
  }: {
    after?: number | undefined;
    signal?: AbortSignal | undefined;
  } = {}) {
    let changed = Promise.withResolvers<void>();
    const wake = () => changed.resolve();
    const end = subscribe(wake);
    signal?.addEventListener('abort', wake);
    try {
      for (let last = after; !signal?.aborted; ) {
        // One at a time: a list of them would keep for a slow reader what is forgotten meanwhile.
        const entry = kept[indexAfter(last)];
        if (entry === undefined) {
          changed = Promise.withResolvers();
          await changed.promise;
        } else {
          yield entry;
          last = entry.id;
        }
      }
    } finally {
      end();
      signal?.removeEventListener('abort', wake);
    }
  }

  const view: SandboxTrace = Object.freeze({
    get entries() {
      return entriesAfter(0);
    },
    get forgotten() {
      return lastId - (kept.length - start);
    },
    [Symbol.iterator]: () => entriesAfter(0)[Symbol.iterator](),
    subscribe,
    follow,
    clear() {
      kept = [];
      start = 0;
      textSize = 0;
    },
    text({ last = 50 }: { last?: number | undefined } = {}) {
      const lines = entriesAfter(Math.max(0, lastId - last)).map(lineOf);
      return [`sandbox seed ${seed}`, ...lines].join('\n');
    },
  });
  return { add, view };
}

function lineOf(entry: TraceEntry): string {
  const parts = [
    `#${entry.id}`,
    entry.kind,
    ...(entry.exchange === entry.id ? [] : [`of #${entry.exchange}`]),
    entry.operation ?? entry.event,
    entry.method,
    entry.status,
    entry.order === undefined ? undefined : `order ${printableText(entry.order)}`,
    ...entry.faults.map((fault) => `fault ${fault}`),
    entry.note && printableText(entry.note),
  ];
  return parts.filter((part) => part !== undefined).join(' ');
}
