import { resultOf } from '../sandbox/control/exchange-verdict.ts';
import type { TraceEntry } from '../sandbox/world/trace.ts';

/** A line of the list: a request or an event with its result, or a fault that prevented it. */
export interface Row {
  readonly id: number;
  readonly kind: 'request' | 'event' | 'fault';
  readonly time: number;
  readonly name: string;
  readonly where: string;
  readonly order: string;
  readonly delivery: string | undefined;
  readonly status: number | undefined;
  readonly durationMs: number | undefined;
  readonly faults: readonly string[];
  readonly note: string | undefined;
  readonly isAnswered: boolean;
}

/** The page keeps the last exchanges. A search asks the server, which has more of them. */
export const maxRows = 500;
/** The entries that the last exchanges can have: a request, its reply, and now and then a fault. */
export const maxEntries = 3 * maxRows;

/** Adds entries to the rows, by id. A row is never changed, only replaced. */
export function addEntries(rows: Map<number, Row>, entries: readonly TraceEntry[]): void {
  for (const entry of entries) {
    const row = rows.get(entry.exchange);
    // A reply whose request was forgotten.
    if (row === undefined && entry.id !== entry.exchange) continue;
    // A dropped event has no other entry than its fault.
    if (row === undefined && entry.kind === 'fault' && !entry.faults.includes('drop')) continue;
    rows.set(entry.exchange, row === undefined ? rowOf(entry) : answered(row, entry));
  }
  for (const id of rows.keys()) {
    if (rows.size <= maxRows) break;
    rows.delete(id);
  }
}

export const filters = {
  all: { title: 'All', matches: () => true },
  requests: { title: 'Requests', matches: ({ kind }) => kind === 'request' },
  events: { title: 'Events', matches: ({ kind }) => kind === 'event' },
  failed: { title: 'Failed', matches: (row) => row.kind !== 'fault' && resultOf(row) === 'bad' },
  faults: { title: 'With faults', matches: ({ faults }) => faults.length > 0 },
} as const satisfies Record<string, { title: string; matches: (row: Row) => boolean }>;

export type Filter = keyof typeof filters;

function rowOf(entry: TraceEntry): Row {
  const { id, kind, time, operation, event, order = '', delivery, method, url, faults, note } = entry;
  return {
    id,
    kind: kind === 'event' || kind === 'fault' ? kind : 'request',
    time,
    name: operation ?? event ?? 'unknown path',
    where: url === undefined ? '' : `${method ?? ''} ${visibleUrl(url, kind)}`,
    order,
    delivery,
    status: undefined,
    durationMs: undefined,
    faults,
    note: kind === 'fault' ? note : undefined,
    isAnswered: kind === 'fault',
  };
}

function answered(row: Row, entry: TraceEntry): Row {
  const faults = [...new Set([...row.faults, ...entry.faults])];
  if (entry.kind === 'fault') return { ...row, faults };
  const { status, durationMs, note } = entry;
  return { ...row, faults, status, durationMs, note, isAnswered: true };
}

/** The path of a request, since requests come to this server; the whole address of an event. */
function visibleUrl(url: string, kind: TraceEntry['kind']): string {
  if (kind === 'event' || !URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  return pathname + search;
}
