import { useEffect, useState } from 'preact/hooks';
import {
  ApiError,
  type Email,
  get,
  hasToken,
  isListening,
  type List,
  type Message,
  type Order,
  pathOf,
  type State,
  setToken,
  takeToken,
} from './api.ts';
import {
  type Address,
  emptyAddress,
  followAddress,
  parseAddress,
  type Tab,
  writeAddress,
} from './page-address.ts';
import { followTrace } from './trace-stream.ts';
import { addEntries, type Row } from './traffic-rows.ts';

/** The state of the page. Components read it through {@link useStore}. */
export const store = {
  state: undefined as State | undefined,
  /** How many of the oldest entries the server has dropped. */
  forgotten: 0,
  rows: new Map<number, Row>(),
  rowsVersion: 0,
  isConnected: false,
  hasToken: false,
  address: emptyAddress('traffic'),
  /** The exchanges in which the server found the search. */
  found: undefined as
    | { readonly search: string; readonly lastId: number; readonly ids: ReadonlySet<number> }
    | undefined,
  orders: undefined as List<Order> | undefined,
  maxOrders: 100,
  order: undefined as Order | undefined,
  messages: undefined as List<Message> | undefined,
  mails: undefined as List<Email> | undefined,
  notice: undefined as { readonly text: string; readonly isError: boolean } | undefined,
};

const listeners = new Set<() => void>();
let lastId = 0;
/** Identifies the run of the server. */
let instance: string | undefined;
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

/** The last address of each tab. */
const visited = new Map<Tab, Address>();

/**
 * Changes the address. Another selection or tab is a step for the back button; typing a search, or moving through rows
 * with the keys, is not (`replace`).
 */
export function navigate(change: Partial<Address>, mode: 'push' | 'replace' = 'push'): void {
  const address = { ...store.address, ...change };
  writeAddress(address, mode);
  show(address);
}

/** Opens a tab as it was left. */
export function openTab(tab: Tab): void {
  navigate(visited.get(tab) ?? emptyAddress(tab));
}

export function openOrder(name: string): void {
  navigate({ ...emptyAddress('orders'), open: name });
}

function show(address: Address): void {
  const { tab, open, search } = store.address;
  visited.set(address.tab, address);
  update({ address });
  if (address.tab !== tab || (tab === 'orders' && address.open !== open)) void refresh();
  else if (address.search !== search) refreshSoon();
}

export async function attempt(what: string, act: () => Promise<unknown>): Promise<void> {
  try {
    const outcome = await act();
    say(typeof outcome === 'string' ? `${what}: ${outcome}` : what);
  } catch (error) {
    askForToken(error);
    say(error instanceof Error ? error.message : String(error), true);
  }
  await refresh();
}

function askForToken(error: unknown): void {
  if (error instanceof ApiError && /^token_/.test(error.code)) update({ hasToken: false });
}

let connectAgain = () => {};

export function acceptToken(token: string): void {
  setToken(token);
  update({ hasToken: true });
  connectAgain();
}

export function say(text: string, isError = false): void {
  const notice = { text, isError };
  update({ notice });
  setTimeout(() => store.notice === notice && update({ notice: undefined }), isError ? 10_000 : 5000);
}

export function startPage(): void {
  takeToken();
  update({ hasToken: hasToken() });
  show(ownAddress(parseAddress(location.hash)));
  followAddress((address) => show(ownAddress(address)));
  connectAgain = followTrace({
    readState,
    lastId: () => lastId,
    onEntries(entries) {
      addEntries(store.rows, entries);
      lastId = entries.at(-1)?.id ?? lastId;
      update({ rowsVersion: store.rowsVersion + 1 });
      refreshSoon();
    },
    onConnection(isConnected) {
      if (isConnected !== store.isConnected) update({ isConnected });
    },
  });
}

/** `listen` has the traffic alone. */
function ownAddress(address: Address): Address {
  return isListening ? { ...address, tab: 'traffic' } : address;
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
export async function refresh(): Promise<void> {
  await readState().catch(() => {});
}

async function readState(): Promise<void> {
  const { address } = store;
  try {
    const [state, data] = await Promise.all([get<State>('state'), readTab(address)]);
    forget(state);
    // `listen` answers with the extent of its trace alone.
    if (!isListening) update({ state });
    const { tab, open, search } = store.address;
    if (tab === address.tab && open === address.open && search === address.search) update(data);
  } catch (error) {
    askForToken(error);
    throw error;
  }
}

const noIds: ReadonlySet<number> = new Set();

async function readTab({ tab, open, search }: Address): Promise<Partial<typeof store>> {
  const query = `search=${encodeURIComponent(search)}`;
  switch (tab) {
    case 'traffic': {
      if (search === '') return { found: undefined };
      const before = store.found?.search === search ? store.found : { lastId: 0, ids: noIds };
      const path = `trace/search?${query}&after=${before.lastId}`;
      const { exchanges, lastId } = await get<{ exchanges: number[]; lastId: number }>(path);
      return { found: { search, lastId, ids: new Set([...before.ids, ...exchanges]) } };
    }
    case 'orders': {
      const [orders, order] = await Promise.all([
        get<List<Order>>(`orders?limit=${store.maxOrders}&${query}`),
        // Forgotten, or of several partners.
        open === '' ? undefined : get<Order>(pathOf`orders/${open}`).catch(() => undefined),
      ]);
      return { orders, order };
    }
    case 'messages':
      return { messages: await get<List<Message>>(`messages?limit=500&${query}`) };
    case 'mails':
      return { mails: await get<List<Email>>('emails?limit=200') };
    default:
      return {};
  }
}

/** Drops forgotten rows, and all of them after a restart of the server. */
function forget(state: Pick<State, 'instance' | 'trace'>): void {
  const isOther = instance !== undefined && instance !== state.instance;
  instance = state.instance;
  if (isOther) {
    store.rows.clear();
    lastId = 0;
    navigate({ open: '' }, 'replace');
    visited.clear();
    update({ found: undefined });
  }
  const { forgotten } = state.trace;
  if (forgotten !== store.forgotten) update({ forgotten });
  const { size } = store.rows;
  for (const id of store.rows.keys()) {
    if (id > forgotten) break;
    store.rows.delete(id);
  }
  if (isOther || store.rows.size !== size) update({ rowsVersion: store.rowsVersion + 1 });
}
