import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { tokenNeeded } from './api.ts';
import { ControlsView } from './controls-view.tsx';
import { dateText } from './elements.tsx';
import { OrdersView } from './orders-view.tsx';
import { OutboxView } from './outbox-view.tsx';
import { type Tab, tabs } from './page-address.ts';
import { showInvisible } from './show-invisible.ts';
import { navigate, startPage, store, useStore } from './store.ts';
import { TrafficView } from './traffic-view.tsx';

const views = {
  traffic: TrafficView,
  orders: OrdersView,
  outbox: OutboxView,
  controls: ControlsView,
} as const satisfies Record<Tab, unknown>;

function App() {
  const { address, notice, hasToken } = useStore();
  useEffect(() => {
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const View = views[address.tab];
  return (
    <>
      <Header />
      {!hasToken && <p class="hint">You can look. {tokenNeeded}</p>}
      <main>
        <View />
      </main>
      <div class="notices" role="status" aria-live="polite">
        {notice !== undefined && <p class={notice.isError ? 'notice bad' : 'notice'}>{notice.text}</p>}
      </div>
    </>
  );
}

function Header() {
  const { address, state, isConnected } = useStore();
  const counts: Readonly<Record<Tab, number>> = {
    traffic: 0,
    orders: state?.counts.orders ?? 0,
    outbox: (state?.counts.messages ?? 0) + (state?.counts.emails ?? 0),
    controls: state?.faults.length ?? 0,
  };
  return (
    <header>
      <h1>
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="8" />
          <path d="M8 12h13m-4-4 4 4-4 4M24 21H11m4-4-4 4 4 4" />
        </svg>
        Sandbox
      </h1>
      <nav>
        {/* Sound: the keys of the table. */}
        {(Object.keys(tabs) as Tab[]).map((id) => (
          <a key={id} href={`#tab=${id}`} aria-current={id === address.tab ? 'page' : undefined}>
            {tabs[id]}{' '}
            {counts[id] > 0 && <span class={id === 'controls' ? 'count fault' : 'count'}>{counts[id]}</span>}
          </a>
        ))}
      </nav>
      <div class="status">
        {state !== undefined && (
          <time title="The time inside the sandbox" dateTime={new Date(state.clock.now).toISOString()}>
            {dateText(state.clock.now)}
          </time>
        )}
        <span class={isConnected ? 'live on' : 'live'}>{isConnected ? 'live' : 'not connected'}</span>
      </div>
    </header>
  );
}

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape' && store.address.open !== '') navigate({ open: '' });
  const isTyping = event.target instanceof HTMLElement && event.target.matches('input, select');
  if (event.key !== '/' || isTyping) return;
  const search = document.querySelector<HTMLInputElement>('input[type=search]');
  if (search === null) return;
  event.preventDefault();
  search.focus();
}

startPage();
const root = document.getElementById('app');
showInvisible();
if (root !== null) render(<App />, root);
