import { type Filter, filters } from './traffic-rows.ts';

export const tabs = {
  traffic: 'Traffic',
  orders: 'Orders',
  outbox: 'Outbox',
  controls: 'Faults & time',
} as const;
export type Tab = keyof typeof tabs;

/** What the page shows. It is in the fragment of the URL, which the browser does not send. */
export interface Address {
  readonly tab: Tab;
  /** The id of the open exchange, or the name of the open order; empty for none. */
  readonly open: string;
  readonly search: string;
  readonly show: Filter;
}

export function emptyAddress(tab: Tab): Address {
  return { tab, open: '', search: '', show: 'all' };
}

/** Reads a fragment such as `#tab=orders&open=A-1001&search=credited`. Unknown values count as absent. */
export function parseAddress(fragment: string): Address {
  const params = new URLSearchParams(fragment.slice(1));
  return {
    tab: keyOf(tabs, params.get('tab')) ?? 'traffic',
    open: params.get('open') ?? '',
    search: params.get('search') ?? '',
    show: keyOf(filters, params.get('show')) ?? 'all',
  };
}

export function keyOf<Key extends string>(
  table: Readonly<Record<Key, unknown>>,
  text: string | null,
): Key | undefined {
  // Sound: it is a key of the table.
  return text !== null && Object.hasOwn(table, text) ? (text as Key) : undefined;
}

/** The fragment of an address, without the members that have their default. */
function formatAddress(address: Address): string {
  const empty = emptyAddress('traffic');
  const changed = Object.entries(address).filter(
    // Sound: both have the same members.
    ([name, value]) => value !== empty[name as keyof Address],
  );
  return changed.length === 0 ? '' : `#${new URLSearchParams(changed)}`;
}

/** Browsers refuse more than some 100 changes of the address in 30 seconds, and typing makes many. */
const replaceDelayMs = 400;
let delayed: { readonly url: string; readonly timer: ReturnType<typeof setTimeout> } | undefined;

/** Writes the address: `push` adds a step for the back button, `replace` changes the current one. */
export function writeAddress(address: Address, mode: 'push' | 'replace'): void {
  const url = location.pathname + location.search + formatAddress(address);
  if (mode === 'replace') {
    clearTimeout(delayed?.timer);
    delayed = { url, timer: setTimeout(writeDelayed, replaceDelayMs) };
    return;
  }
  writeDelayed();
  if (location.hash !== formatAddress(address)) history.pushState(null, '', url);
}

function writeDelayed(): void {
  if (delayed === undefined) return;
  clearTimeout(delayed.timer);
  history.replaceState(null, '', delayed.url);
  delayed = undefined;
}

/** Calls the listener after the back button, a link, or a change of the address by hand. */
export function followAddress(listener: (address: Address) => void): void {
  addEventListener('popstate', () => {
    clearTimeout(delayed?.timer);
    delayed = undefined;
    listener(parseAddress(location.hash));
  });
}
