import type { TraceEntry } from '../world/trace.ts';

/** The words of a search, in lower case. */
export function wordsOf(search: string): readonly string[] {
  return search.toLowerCase().split(/\s+/).filter(Boolean);
}

/** The entries of the exchanges that have every word of a search, in order. It reads bodies, not headers. */
export function findEntries(entries: readonly TraceEntry[], search: string): readonly TraceEntry[] {
  const words = wordsOf(search);
  const exchanges = Map.groupBy(entries, ({ exchange }) => exchange);
  const found = new Set<number>();
  for (const [id, members] of exchanges) {
    const text = members.map(textOf).join(' ').toLowerCase();
    if (words.every((word) => text.includes(word))) found.add(id);
  }
  return entries.filter(({ exchange }) => found.has(exchange));
}

function textOf(entry: TraceEntry): string {
  const { id, kind, operation, event, method, url, status, order, faults, note, body } = entry;
  return [`#${id}`, kind, operation, event, method, url, status, order, ...faults, note, body].join(' ');
}
