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
function parseSearch(search: string): readonly Term[] {
  return [...search.matchAll(/"([^"]*)"?|(\S+)/g)].flatMap(([, quoted, word = '']): Term[] => {
    if (/^[1-5]\d\d$/.test(word)) return [{ kind: 'status', status: Number(word) }];
    if (/^#\d{1,15}$/.test(word)) return [{ kind: 'id', id: Number(word.slice(1)) }];
    const text = (quoted ?? word).toLowerCase();
    return text === '' ? [] : [{ kind: 'text', text }];
  });
}

/** The entries of the exchanges that a search finds, in order. It reads bodies, not headers. */
export function findEntries(entries: readonly TraceEntry[], search: string): readonly TraceEntry[] {
  const terms = parseSearch(search);
  if (terms.length === 0) return entries;
  const exchanges = Map.groupBy(entries, ({ exchange }) => exchange);
  const found = new Set(
    [...exchanges].filter(([, own]) => terms.every((term) => matches(own, term))).map(([id]) => id),
  );
  return entries.filter(({ exchange }) => found.has(exchange));
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
