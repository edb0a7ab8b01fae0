import type { TraceEntry } from '../world/trace.ts';

/** The words of a search, in lower case. */
export function wordsOf(search: string): readonly string[] {
  return search.toLowerCase().split(/\s+/).filter(Boolean);
}

/**
 * The entries of the exchanges that have every word of a search, in order. A word of three digits is a status: a body or
 * a port may hold any digits. It reads bodies, not headers.
 */
export function findEntries(entries: readonly TraceEntry[], search: string): readonly TraceEntry[] {
  const words = wordsOf(search);
  const exchanges = Map.groupBy(entries, ({ exchange }) => exchange);
  const found = new Set<number>();
  for (const [id, members] of exchanges) {
    const text = members.map(textOf).join(' ').toLowerCase();
    const statuses = members.map(({ status }) => String(status));
    const isThere = (word: string) => (/^[1-5]\d\d$/.test(word) ? statuses : text).includes(word);
    if (words.every(isThere)) found.add(id);
  }
  return entries.filter(({ exchange }) => found.has(exchange));
}

function textOf(entry: TraceEntry): string {
  const { kind, operation, event, method, url, order, faults, note, body } = entry;
  return [kind, operation, event, method, url, order, ...faults, note, body].join(' ');
}
