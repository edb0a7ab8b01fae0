import { parseSearch } from '../sandbox/control/search-traffic.ts';
import { isForgery } from '../sandbox/settings/event-faults.ts';
import type { ListedEntry } from './api.ts';

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
  readonly signature: ListedEntry['signature'];
  readonly note: string | undefined;
  readonly isAnswered: boolean;
  /** The text that the search reads. */
  readonly text: string;
}

/** Adds entries to the rows, by id. A row is never changed, only replaced. */
export function addEntries(rows: Map<number, Row>, entries: readonly ListedEntry[]): void {
  for (const entry of entries) {
    const row = rows.get(entry.exchange);
    // A reply whose request was forgotten.
    if (row === undefined && entry.id !== entry.exchange) continue;
    // A dropped event has no other entry than its fault.
    if (row === undefined && entry.kind === 'fault' && !entry.faults.includes('drop')) continue;
    const next = row === undefined ? rowOf(entry) : answered(row, entry);
    rows.set(entry.exchange, { ...next, text: textOf(next) });
  }
}

/** Whether the exchange went as it should. A refused forgery is good, an accepted one is bad. */
export function verdictOf(answer: Pick<Row, 'status' | 'isAnswered' | 'faults'>): 'good' | 'bad' | 'waiting' {
  const { status, isAnswered } = answer;
  if (!isAnswered) return 'waiting';
  if (status === undefined) return 'bad';
  if (isForgery(answer)) return status >= 400 && status < 500 ? 'good' : 'bad';
  return status < 400 ? 'good' : 'bad';
}

export const filters = {
  all: () => true,
  requests: (row) => row.kind === 'request',
  events: (row) => row.kind === 'event',
  failed: (row) => row.kind !== 'fault' && verdictOf(row) === 'bad',
  faults: (row) => row.faults.length > 0,
  unverified: (row) => row.signature !== undefined && row.signature !== 'verified',
} as const satisfies Record<string, (row: Row) => boolean>;

export type Filter = keyof typeof filters;

/** The newest first. `found` are the exchanges that the server found, whose bodies it searches. */
export function select(
  rows: Iterable<Row>,
  { show, search, found }: { show: Filter; search: string; found: ReadonlySet<number> },
): Row[] {
  const terms = parseSearch(search);
  const matches = (row: Row) =>
    found.has(row.id) ||
    terms.every((term) => {
      if (term.kind === 'id') return row.id === term.id;
      return term.kind === 'status' ? row.status === term.status : row.text.includes(term.text);
    });
  return [...rows].filter((row) => filters[show](row) && matches(row)).reverse();
}

function rowOf(entry: ListedEntry): Omit<Row, 'text'> {
  const { id, kind, time, operation, event, order = '', delivery, method, url, faults, note } = entry;
  const { signature } = entry;
  return {
    id,
    kind: kind === 'event' || kind === 'fault' ? kind : 'request',
    time,
    name: operation ?? event ?? 'unknown path',
    where: url === undefined ? '' : `${method ?? ''} ${shownUrl(url, kind)}`,
    order,
    delivery,
    status: undefined,
    durationMs: undefined,
    faults,
    signature,
    note: kind === 'fault' ? note : undefined,
    isAnswered: kind === 'fault',
  };
}

function answered(row: Omit<Row, 'text'>, entry: ListedEntry): Omit<Row, 'text'> {
  const faults = [...new Set([...row.faults, ...entry.faults])];
  if (entry.kind === 'fault') return { ...row, faults };
  const { status, durationMs, note } = entry;
  return { ...row, faults, status, durationMs, note, isAnswered: true };
}

/** Requests come to this server, so their path is enough. */
function shownUrl(url: string, kind: ListedEntry['kind']): string {
  if (kind === 'event' || !URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  return pathname + search;
}

function textOf(row: Omit<Row, 'text'>): string {
  const { kind, name, where, order, faults, note, signature } = row;
  const words = [kind, name, where, order, ...faults, note, signature];
  return words.filter(Boolean).join(' ').toLowerCase();
}
