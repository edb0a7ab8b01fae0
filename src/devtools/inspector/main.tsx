import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isListening } from './api.ts';
import { ControlsView } from './controls-view.tsx';
import { shownDate } from './labels.tsx';
import { MailsView } from './mails-view.tsx';
import { MessagesView } from './messages-view.tsx';
import { OrdersView } from './orders-view.tsx';
import type { Tab } from './page-address.ts';
import { showInvisible } from './show-invisible.ts';
import { acceptToken, navigate, openTab, startPage, store, update, useStore } from './store.ts';
import { TrafficView } from './traffic-view.tsx';

const tabs: readonly { readonly id: Tab; readonly title: string }[] = [
  { id: 'traffic', title: 'Traffic' },
  { id: 'orders', title: 'Orders' },
  { id: 'messages', title: 'Messages' },
  { id: 'mails', title: 'Mails' },
  { id: 'controls', title: 'Faults & time' },
];
const [title, shownTabs] = isListening ? ['Received', tabs.slice(0, 1)] : ['Sandbox', tabs];
const askForToken = isListening
  ? 'What was received holds personal data. To see it, give the token that was printed at the start:'
  : 'You can look. To change something, give the token that was printed at the start:';

const views = {
  traffic: TrafficView,
  orders: OrdersView,
  messages: MessagesView,
  mails: MailsView,
  controls: ControlsView,
} as const;

function App() {
  const {
    address: { tab },
    notice,
    hasToken,
  } = useStore();
  useEffect(() => {
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const View = views[tab];
  return (
    <>
      <Header />
      {!hasToken && <TokenForm />}
      <main>
        <div id="view" role="tabpanel" aria-labelledby={`tab-${tab}`}>
          <View />
        </div>
      </main>
      <div class="notices" role="status" aria-live="polite">
        {notice !== undefined && (
          <p class={notice.isError ? 'notice bad' : 'notice'}>
            {notice.text}
            <button
              type="button"
              class="quiet"
              aria-label="Close"
              onClick={() => update({ notice: undefined })}
            >
              ×
            </button>
          </p>
        )}
      </div>
    </>
  );
}

function Header() {
  const {
    address: { tab },
    state,
    isConnected,
  } = useStore();
  useEffect(() => {
    // On a phone the tabs are wider than the screen.
    document.getElementById(`tab-${tab}`)?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [tab]);
  const counts: Readonly<Partial<Record<Tab, number>>> = {
    orders: state?.counts.orders ?? 0,
    messages: state?.counts.messages ?? 0,
    mails: state?.counts.emails ?? 0,
    controls: state === undefined ? 0 : state.faults.length,
  };
  return (
    <header>
      <h1>
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="8" />
          <path d="M8 12h13m-4-4 4 4-4 4M24 21H11m4-4-4 4 4 4" />
        </svg>
        {title}
      </h1>
      <div role="tablist" aria-label="Views" class="tabs" onKeyDown={onTabKey}>
        {shownTabs.map(({ id, title }) => (
          <button
            key={id}
            id={`tab-${id}`}
            type="button"
            role="tab"
            aria-selected={id === tab}
            aria-controls="view"
            tabIndex={id === tab ? 0 : -1}
            onClick={() => openTab(id)}
          >
            {title}
            {(counts[id] ?? 0) > 0 && (
              <span class={id === 'controls' ? 'count fault' : 'count'}>{counts[id]}</span>
            )}
          </button>
        ))}
      </div>
      <div class="status">
        {state !== undefined && (
          <time title="The time inside the sandbox" dateTime={new Date(state.clock.now).toISOString()}>
            {shownDate(state.clock.now)}
          </time>
        )}
        <span class={isConnected ? 'live on' : 'live'}>{isConnected ? 'live' : 'not connected'}</span>
        <ThemeButton />
      </div>
    </header>
  );
}

function TokenForm() {
  const [text, setText] = useState('');
  return (
    <form
      class="token"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') acceptToken(text.trim());
      }}
    >
      <label for="token">{askForToken}</label>
      <input
        id="token"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit">Use it</button>
    </form>
  );
}

function onTabKey(event: KeyboardEvent): void {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('[role=tab]')];
  // Sound: used only to find it among the buttons.
  const index = buttons.indexOf(document.activeElement as HTMLButtonElement);
  const last = buttons.length - 1;
  const target = {
    ArrowRight: index === last ? 0 : index + 1,
    ArrowLeft: index <= 0 ? last : index - 1,
    Home: 0,
    End: last,
  }[event.key];
  if (target === undefined) return;
  event.preventDefault();
  buttons[target]?.focus();
  buttons[target]?.click();
}

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape') closeDetail();
  const isTyping = event.target instanceof HTMLElement && event.target.matches('input, select, textarea');
  if (event.key !== '/' || isTyping) return;
  const search = document.querySelector<HTMLInputElement>('input[type=search]');
  if (search === null) return;
  event.preventDefault();
  search.focus();
}

/** The phone of the messages stays: it has no list to go back to. */
function closeDetail(): void {
  const { tab, open } = store.address;
  if (open !== '' && tab !== 'messages') navigate({ open: '' });
}

const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];
const icons: Readonly<Record<Theme, string>> = { system: '◐', light: '☀', dark: '☾' };
const storageKey = 'sandbox-theme';

function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(
    () => themes.find((each) => each === localStorage.getItem(storageKey)) ?? 'system',
  );
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(storageKey, theme);
  }, [theme]);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
  return (
    <button
      type="button"
      class="quiet icon"
      title={`Colours: ${theme}`}
      aria-label={`Colours: ${theme}. Change to ${next}`}
      onClick={() => setTheme(next)}
    >
      {icons[theme]}
    </button>
  );
}

startPage();
const root = document.getElementById('app');
showInvisible();
if (root !== null) render(<App />, root);
