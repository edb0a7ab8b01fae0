import { useEffect, useState } from 'preact/hooks';
import type { List, ListedOrder, State } from '../sandbox/control/answers.ts';
import type { TraceEntry } from '../sandbox/world/trace.ts';
import { ApiError, get, takeToken } from './api.ts';
import { type Address, emptyAddress, followAddress, parseAddress, writeAddress } from './page-address.ts';
import { followTrace } from './trace-stream.ts';
import { addEntries, maxEntries, type Row } from './traffic-rows.ts';

/** The state of the page. Components read it through {@link useStore}. */
export const store = {
  state: undefined as State | undefined,
  /** The last exchanges, the oldest first. */
  rows: new Map<number, Row>() as ReadonlyMap<number, Row>,
  /** Those in which the server found the search; `undefined` without one. */
  foundRows: undefined as ReadonlyMap<number, Row> | undefined,
  isConnected: false,
  hasToken: false,
  address: emptyAddress('traffic'),
  orders: undefined as List<ListedOrder> | undefined,
  /** The open order, also if it is not in the list. */
  order: undefined as ListedOrder | undefined,
  notice: undefined as { readonly text: string; readonly isError: boolean } | undefined,
};

const listeners = new Set<() => void>();
let lastId = 0;
let isDrawn = true;

/** Draws the component again after a change, at most once a frame. */
export function useStore(): typeof store {
  const [, draw] = useState(0);
  useEffect(() => {
    const listener = () => draw((count) => count + 1);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, []);
  return store;
}

export function update(changes: Partial<typeof store>): void {
  Object.assign(store, changes);
  if (!isDrawn) return;
  isDrawn = false;
  // A hidden tab has no frames.
  const timer = setTimeout(draw, 200);
  requestAnimationFrame(draw);
  function draw(): void {
    if (isDrawn) return;
    isDrawn = true;
    clearTimeout(timer);
    for (const listener of listeners) listener();
  }
}

/**
 * Changes the address. Another selection or tab is a step for the back button; typing a search, or moving through rows
 * with the keys, is not (`replace`).
 */
export function navigate(change: Partial<Address>, mode: 'push' | 'replace' = 'push'): void {
  const address = { ...store.address, ...change };
  writeAddress(address, mode);
  show(address);
}

export function openOrder(name: string): void {
  navigate({ ...emptyAddress('orders'), open: name });
}

export function openExchange(id: number): void {
  navigate({ ...emptyAddress('traffic'), open: String(id) });
}

export function isOpenOrder({ platform_order_ref, partner_order_id }: ListedOrder): boolean {
  const { open } = store.address;
  return platform_order_ref === open || partner_order_id === open;
}

function show(address: Address): void {
  const { tab, open, search } = store.address;
  update({ address });
  if (address.tab !== tab || (tab === 'orders' && address.open !== open)) void refresh();
  else if (address.search !== search) refreshSoon();
}

/** Runs an action, and says how it ended. Its result, if it is a text, is part of the message. */
export async function attempt(title: string, act: () => Promise<unknown>): Promise<void> {
  try {
    const result = await act();
    say(typeof result === 'string' ? `${title}: ${result}` : title);
  } catch (error) {
    askForToken(error);
    say(error instanceof Error ? error.message : String(error), true);
  }
  await refresh();
}

function askForToken(error: unknown): void {
  if (error instanceof ApiError && /^token_/.test(error.code)) update({ hasToken: false });
}

function say(text: string, isError = false): void {
  const notice = { text, isError };
  update({ notice });
  setTimeout(() => store.notice === notice && update({ notice: undefined }), isError ? 10_000 : 5000);
}

export function startPage(): void {
  update({ hasToken: takeToken() });
  show(parseAddress(location.hash));
  followAddress((address) => {
    update({ hasToken: takeToken() });
    show(address);
  });
  followTrace({
    readState,
    lastId: () => Math.max(lastId, (store.state?.trace.lastId ?? 0) - maxEntries),
    onEntries(entries) {
      const rows = new Map(store.rows);
      addEntries(rows, entries);
      lastId = entries.at(-1)?.id ?? lastId;
      update({ rows });
      refreshSoon();
    },
    onConnection(isConnected) {
      if (isConnected !== store.isConnected) update({ isConnected });
    },
  });
}

let isRefreshDue = false;

function refreshSoon(): void {
  if (isRefreshDue) return;
  isRefreshDue = true;
  setTimeout(() => {
    isRefreshDue = false;
    void refresh();
  }, 250);
}

/** Reads the data of the open tab and of the header. A failure shows as a lost connection. */
async function refresh(): Promise<void> {
  await readState().catch(() => {});
}

async function readState(): Promise<void> {
  const { address } = store;
  try {
    const [state, data] = await Promise.all([get<State>('state'), readTab(address)]);
    forget(state);
    update({ state });
    const { tab, open, search } = store.address;
    if (tab === address.tab && open === address.open && search === address.search) update(data);
  } catch (error) {
    askForToken(error);
    throw error;
  }
}

async function readTab({ tab, open, search }: Address): Promise<Partial<typeof store>> {
  const query = `search=${encodeURIComponent(search)}`;
  if (tab === 'traffic') {
    if (search === '') return { foundRows: undefined };
    const foundRows = new Map<number, Row>();
    const { entries } = await get<{ entries: TraceEntry[] }>(`trace?bodies=false&${query}`);
    addEntries(foundRows, entries);
    return { foundRows };
  }
  if (tab !== 'orders') return {};
  const orders = await get<List<ListedOrder>>(`orders?${query}`);
  if (open === '') return { orders, order: undefined };
  const order = orders.items.find(isOpenOrder);
  if (order !== undefined) return { orders, order };
  const others = await get<List<ListedOrder>>(`orders?search=${encodeURIComponent(open)}`);
  return { orders, order: others.items.find(isOpenOrder) };
}

/** Drops forgotten rows, and all of them after a restart of the server. */
function forget({ instance, trace: { forgotten } }: State): void {
  const isOther = store.state !== undefined && store.state.instance !== instance;
  if (isOther) {
    lastId = 0;
    navigate({ open: '' }, 'replace');
    update({ foundRows: undefined });
  }
  const kept = [...store.rows].filter(([id]) => id > forgotten && !isOther);
  if (kept.length !== store.rows.size) update({ rows: new Map(kept) });
}
