import { useEffect, useState } from 'preact/hooks';
import type { List, ListedOrder, State } from '../sandbox/control/answers.ts';
import type { TraceEntry } from '../sandbox/world/trace.ts';
import { ApiError, get, takeToken } from './api.ts';
import { type Address, emptyAddress, followAddress, parseAddress, writeAddress } from './page-address.ts';
import { addEntries, maxEntries, type Row } from './traffic-rows.ts';

/** The state of the page. Components read it through {@link useStore}. */
export const store = {
  state: undefined as State | undefined,
  /** The last exchanges, the oldest first. */
  rows: new Map<number, Row>() as ReadonlyMap<number, Row>,
  isConnected: false,
  hasToken: false,
  address: emptyAddress('traffic'),
  orders: undefined as List<ListedOrder> | undefined,
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
  const { tab } = store.address;
  update({ address });
  if (address.tab !== tab) void refresh();
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
  // Shown again, a page does not wait for its next turn.
  document.addEventListener('visibilitychange', () => void refresh());
  void follow();
}

const pollMs = 500;

/** Reads what is new for as long as the page is open. A hidden page asks for nothing. */
async function follow(): Promise<never> {
  for (;;) {
    await refresh();
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

let lastReading: Promise<void> = Promise.resolve();

/** Reads what the page shows, after any reading that is under way: both would add the same rows. */
function refresh(): Promise<void> {
  lastReading = lastReading.then(read);
  return lastReading;
}

/** Reads the header, the traffic and the data of the open tab. A failure shows as a lost connection. */
async function read(): Promise<void> {
  if (document.hidden) return;
  const { tab } = store.address;
  try {
    const [state, orders] = await Promise.all([
      get<State>('state'),
      tab === 'orders' ? get<List<ListedOrder>>('orders') : store.orders,
    ]);
    const rows = await readRows(state);
    update({ state, orders, rows, isConnected: true });
  } catch (error) {
    askForToken(error);
    update({ isConnected: false });
  }
}

/** The rows without forgotten ones, and with new ones; after a restart of the server only its own. */
async function readRows({ instance, trace }: State): Promise<ReadonlyMap<number, Row>> {
  const isOther = store.state !== undefined && store.state.instance !== instance;
  if (isOther) navigate({ open: '' }, 'replace');
  const known = isOther ? [] : [...store.rows].filter(([id]) => id > trace.forgotten);
  const from = isOther ? 0 : lastId;
  if (trace.lastId === from && known.length === store.rows.size) return store.rows;
  const after = Math.max(from, trace.lastId - maxEntries);
  const { entries } = await get<{ entries: TraceEntry[] }>(`trace?bodies=false&after=${after}`);
  const rows = new Map(known);
  addEntries(rows, entries);
  lastId = entries.at(-1)?.id ?? trace.lastId;
  return rows;
}
