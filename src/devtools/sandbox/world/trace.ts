import { printableText } from '../../../internal/printable-text.ts';
import type { SandboxOperation } from '../settings/faults.ts';

/**
 * `request`: to the service; `reply`: of the service; `event`: posted to a partner; `event_reply`: of the partner;
 * `fault`: before the entries that it affects.
 */
export type TraceKind = 'request' | 'reply' | 'event' | 'event_reply' | 'fault';

/** An entry of the trace. Members that do not apply to its kind are `undefined`. */
export interface TraceEntry {
  /** Counts up from 1, without gaps. */
  readonly id: number;
  /** Its kind: see {@link TraceKind}. */
  readonly kind: TraceKind;
  /** Milliseconds since 1970, on the sandbox's clock. */
  readonly time: number;
  /** The `id` of the request or event that this belongs to, or its own. */
  readonly exchange: number;
  /** `undefined` at other addresses, and for events. */
  readonly operation: SandboxOperation | undefined;
  /** `event_name` of an event. */
  readonly event: string | undefined;
  /** The id in `sandbox.deliveries` of an event. */
  readonly delivery: string | undefined;
  /** `partner_order_id`, if it is known. */
  readonly order: string | undefined;
  /** HTTP method, of a request or an event. */
  readonly method: string | undefined;
  /** The whole URL, of a request or an event. */
  readonly url: string | undefined;
  /** HTTP status of a reply; `undefined` if none arrived. */
  readonly status: number | undefined;
  /** From the request to its reply, or from the event to its answer, in milliseconds on the sandbox's clock. */
  readonly durationMs: number | undefined;
  /** As sent, secrets included: the sandbox's keys are valid only in the sandbox. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** The exact text of the body. Bytes that are not UTF-8 become U+FFFD. */
  readonly body: string | undefined;
  /** The faults played with it. */
  readonly faults: readonly string[];
  /** Why an event was not answered (`ECONNREFUSED`), or the effect of a fault. */
  readonly note: string | undefined;
}

export type TraceFacts = Pick<TraceEntry, 'kind'> &
  Partial<Omit<TraceEntry, 'id' | 'kind' | 'exchange'>> & { readonly exchange?: number | undefined };

/** All traffic of a sandbox, in order. */
export interface SandboxTrace extends Iterable<TraceEntry> {
  /** The last entries, oldest first: at most `maxRemembered`, and at most 64 MiB of bodies. */
  readonly entries: readonly TraceEntry[];
  /** How many entries were forgotten. */
  readonly forgotten: number;
  /** Calls the listener with each new entry, at once. Returns a function that ends that. A listener must not throw. */
  readonly subscribe: (listener: (entry: TraceEntry) => void) => () => void;
  /** Forgets every entry; ids go on counting. */
  readonly clear: () => void;
  /**
   * The seed and the last entries as text, one on each line, without headers and bodies, for the output of a failed
   * test. Control characters are removed.
   */
  readonly text: (options?: { last?: number | undefined }) => string;
}

export type TraceLog = ReturnType<typeof createTraceLog>;

/** The limit of all bodies together, in characters. */
const maxText = 64 * 1024 * 1024;

export function createTraceLog(options: { now: () => number; maxEntries: number; seed: string }) {
  const { now, maxEntries, seed } = options;
  const listeners = new Set<(entry: TraceEntry) => void>();
  /** The entries by id. Ids have no gaps. */
  const kept = new Map<number, TraceEntry>();
  let lastId = 0;
  let textSize = 0;

  const forgotten = () => lastId - kept.size;

  /** Keeps an entry, and returns its id. */
  function add(facts: TraceFacts): number {
    lastId += 1;
    // Sound: a member that does not apply is `undefined` where it is absent.
    const entry = Object.freeze({
      time: now(),
      faults: [],
      ...facts,
      id: lastId,
      exchange: facts.exchange ?? lastId,
    }) as object as TraceEntry;
    kept.set(lastId, entry);
    textSize += entry.body?.length ?? 0;
    while (kept.size > maxEntries || (textSize > maxText && kept.size > 1)) {
      const oldest = forgotten() + 1;
      textSize -= kept.get(oldest)?.body?.length ?? 0;
      kept.delete(oldest);
    }
    for (const listener of listeners) listener(entry);
    return lastId;
  }

  function subscribe(listener: (entry: TraceEntry) => void): () => void {
    // A new function for each call, since the same listener may subscribe twice.
    const own = (entry: TraceEntry) => listener(entry);
    listeners.add(own);
    return () => listeners.delete(own);
  }

  const view: SandboxTrace = Object.freeze({
    get entries() {
      return [...kept.values()];
    },
    get forgotten() {
      return forgotten();
    },
    [Symbol.iterator]: () => [...kept.values()][Symbol.iterator](),
    subscribe,
    clear() {
      kept.clear();
      textSize = 0;
    },
    text({ last = 50 }: { last?: number | undefined } = {}) {
      const lines = [...kept.values()].filter(({ id }) => id > lastId - last).map(lineOf);
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
