import type { TraceEntry } from '../world/trace.ts';

/** A part of a search. An exchange is found by all parts together. */
type Term =
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'id'; readonly id: number }
  | { readonly kind: 'text'; readonly text: string };

/**
 * Three digits are a status, `#12` is the number of an exchange, and everything else is text, in any case. Quotes make
 * text of digits and blanks: `"404"`.
 */
export function parseSearch(search: string): readonly Term[] {
  return [...search.matchAll(/"([^"]*)"?|(\S+)/g)].flatMap(([, quoted, word = '']): Term[] => {
    if (/^[1-5]\d\d$/.test(word)) return [{ kind: 'status', status: Number(word) }];
    if (/^#\d{1,15}$/.test(word)) return [{ kind: 'id', id: Number(word.slice(1)) }];
    const text = (quoted ?? word).toLowerCase();
    return text === '' ? [] : [{ kind: 'text', text }];
  });
}

/** The exchanges that a search finds, of those with an entry behind `after`. It reads bodies, not headers. */
export function findExchanges(
  entries: readonly TraceEntry[],
  { search, after }: { search: string; after: number },
): number[] {
  const terms = parseSearch(search);
  const changed = new Map<number, TraceEntry[]>();
  for (const { id, exchange } of entries) if (id > after) changed.set(exchange, []);
  for (const entry of entries) changed.get(entry.exchange)?.push(entry);
  return [...changed].filter(([, own]) => terms.every((term) => matches(own, term))).map(([id]) => id);
}

function matches(entries: readonly TraceEntry[], term: Term): boolean {
  if (term.kind === 'id') return entries[0]?.exchange === term.id;
  if (term.kind === 'status') return entries.some(({ status }) => status === term.status);
  return entries.some((entry) => textOf(entry).includes(term.text) || includes(entry.body, term.text));
}

function textOf({ kind, operation, event, method, url, order, faults, note }: TraceEntry): string {
  return [kind, operation, event, method, url, order, ...faults, note].join(' ').toLowerCase();
}

function includes(body: string | undefined, text: string): boolean {
  return body?.toLowerCase().includes(text) ?? false;
}

/** A page of a list, the newest first. */
export function paged<Item>(all: readonly Item[], { limit, offset }: { limit: number; offset: number }) {
  const end = Math.max(0, all.length - offset);
  return { total: all.length, items: all.slice(Math.max(0, end - limit), end).reverse() };
}

/** Whether the values hold every word of a search, in any case. */
export function matchesWords(
  search: string,
  values: readonly (string | number | null | undefined)[],
): boolean {
  const text = values.join(' ').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
