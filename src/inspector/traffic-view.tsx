import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isListening } from './api.ts';
import { CompareView } from './compare-view.tsx';
import { ExchangeDetail } from './exchange-detail.tsx';
import { Faults, SignatureBadge, Status, shownTime } from './labels.tsx';
import { targetOfKey } from './list-keys.ts';
import { type Filter, type Row, select } from './rows.ts';
import { SessionButtons } from './session-buttons.tsx';
import { navigate, useStore } from './store.ts';

const titles: Readonly<Record<Filter, string>> = {
  all: 'All',
  requests: 'Requests',
  events: 'Events',
  failed: 'Failed',
  faults: 'With faults',
  unverified: 'Not verified',
};
/** The filters that can match. */
const offered: readonly Filter[] = isListening
  ? ['all', 'failed', 'unverified']
  : ['all', 'requests', 'events', 'failed', 'faults'];

const noIds: ReadonlySet<number> = new Set();

export function TrafficView() {
  const { rows, rowsVersion, address, found, compared: comparedId } = useStore();
  const { show, search } = address;
  const isNarrow = useIsNarrow();
  const keys = useRef<((event: KeyboardEvent) => void) | undefined>(undefined);
  const ids = found?.search === search ? found.ids : noIds;
  const shown = useMemo(
    () => select(rows.values(), { show, search, found: ids }),
    [rowsVersion, show, search, ids],
  );
  const selected = rows.get(Number(address.open));
  const compared = rows.get(comparedId ?? 0);
  return (
    <div class={selected === undefined ? 'panes' : 'panes open'}>
      <section class="pane" aria-label="Traffic">
        <div class="bar">
          <input
            type="search"
            placeholder="Search names, orders, bodies, 404  ( / )"
            title={searchHelp}
            aria-label="Search the traffic"
            value={search}
            onInput={(event) => navigate({ search: event.currentTarget.value }, 'replace')}
            onKeyDown={(event) => keys.current?.(event)}
          />
          <select
            aria-label="Show"
            value={show}
            onChange={(event) => navigate({ show: filterOf(event.currentTarget.value) }, 'replace')}
          >
            {offered.map((id) => (
              <option key={id} value={id}>
                {titles[id]}
              </option>
            ))}
          </select>
          <output class="muted">
            {shown.length === rows.size ? rows.size : `${shown.length} of ${rows.size}`}
          </output>
          <SessionButtons />
        </div>
        {shown.length === 0 ? (
          <Empty isSearched={rows.size > 0} />
        ) : (
          <VirtualList
            label="Requests and events, the newest first"
            items={shown}
            rowHeight={isNarrow ? 62 : 42}
            selected={selected?.id}
            keys={keys}
            onSelect={(id, mode) => navigate({ open: String(id) }, mode)}
          >
            {(row) => <Line row={row} />}
          </VirtualList>
        )}
      </section>
      {selected !== undefined &&
        (compared === undefined || compared === selected ? (
          <ExchangeDetail key={selected.id} row={selected} />
        ) : (
          <CompareView key={`${compared.id} ${selected.id}`} one={compared} other={selected} />
        ))}
    </div>
  );
}

function Line({ row }: { row: Row }) {
  return (
    <>
      <Direction kind={row.kind} />
      <span class="what">
        <b>{row.name}</b> <span class="muted">{row.kind === 'fault' ? (row.note ?? '') : row.where}</span>
      </span>
      <span class="marks">
        <Faults faults={row.faults} />
        <SignatureBadge signature={row.signature} />
        {row.isImported && <span class="pill">imported</span>}
        {row.order !== '' && <span class="pill">{row.order}</span>}
      </span>
      {row.kind === 'fault' ? <span /> : <Status {...row} />}
      <span class="muted ms">{row.durationMs === undefined ? '' : `${Math.round(row.durationMs)} ms`}</span>
      <time class="muted">{shownTime(row.time)}</time>
    </>
  );
}

const directions = {
  request: { icon: '→', title: 'Request to the service' },
  event: { icon: '←', title: 'Event to the partner' },
  fault: { icon: '⚡', title: 'Fault' },
} as const;

function Direction({ kind }: { kind: Row['kind'] }) {
  const { icon, title } = directions[kind];
  return (
    <span class={`direction ${kind}`} title={title}>
      <span aria-hidden="true">{icon}</span>
      <span class="unseen">{title}</span>
    </span>
  );
}

const searchHelp =
  'Every word must be in the name, the path, the order or a body. Three digits are a status, #12 is a number, and quotes search for text: "404".';

function Empty({ isSearched }: { isSearched: boolean }) {
  const { state } = useStore();
  if (isSearched) return <p class="empty">No matches. {searchHelp}</p>;
  if (isListening) return <p class="empty">Nothing has come in yet. It is shown here as soon as it does.</p>;
  return (
    <div class="empty">
      <p>Nothing has gone over the wire yet. Send the first request:</p>
      <pre>
        {`curl -H 'content-type: application/json' \\
  -d '{"partner_code":"acme","email":"dev@acme.example"}' \\
  ${state?.deployment.onboardingBaseUrl ?? ''}${state?.deployment.paths.onboard ?? ''}`}
      </pre>
    </div>
  );
}

function filterOf(value: string): Filter {
  // Sound: the options are the keys.
  return (value in titles ? value : 'all') as Filter;
}

interface VirtualListProps<Item extends { readonly id: number }> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly rowHeight: number;
  readonly selected: number | undefined;
  /** Takes the handler of keys, for the search field above the list. */
  readonly keys: { current: ((event: KeyboardEvent) => void) | undefined };
  /** `replace` for keys, which move through many rows. */
  readonly onSelect: (id: number, mode: 'push' | 'replace') => void;
  readonly children: (item: Item) => ComponentChildren;
}

/** Rows beyond the visible ones, above and below, so that scrolling shows no gaps. */
const spare = 8;

/**
 * A list box with only its visible rows in the document. With all 10,000 there and `content-visibility: auto`, a frame of
 * scrolling took ten times as long.
 */
function VirtualList<Item extends { readonly id: number }>(props: VirtualListProps<Item>) {
  const { label, items, rowHeight, selected, keys, onSelect, children } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);

  // The newest row that was visible at the top.
  const newest = useRef(0);
  useEffect(() => {
    if (view.top === 0) newest.current = Math.max(newest.current, items[0]?.id ?? 0);
  }, [items, view.top]);
  const unseen = view.top === 0 ? 0 : items.findIndex(({ id }) => id <= newest.current);

  // New rows come in at the top: what somebody has scrolled to must not move.
  const first = useRef<{ id: number | undefined; count: number }>({ id: undefined, count: 0 });
  useLayoutEffect(() => {
    const { id, count } = first.current;
    const element = box.current;
    const added = items.length - count;
    if (element !== null && added > 0 && element.scrollTop > 0 && items[added]?.id === id) {
      element.scrollTop += added * rowHeight;
    }
    first.current = { id: items[0]?.id, count: items.length };
  }, [items, rowHeight]);

  function show(index: number): void {
    const item = items[index];
    const element = box.current;
    if (item === undefined || element === null) return;
    onSelect(item.id, selected === undefined ? 'push' : 'replace');
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + rowHeight - element.clientHeight;
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    const index = items.findIndex(({ id }) => id === selected);
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    const target = targetOfKey(event, { index, count: items.length, page });
    if (target === undefined) return;
    event.preventDefault();
    show(target);
  }
  keys.current = onKeyDown;

  const from = Math.max(0, Math.floor(view.top / rowHeight) - spare);
  const to = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeight) + spare);
  const shown = items.slice(from, to);
  return (
    <>
      {unseen > 0 && (
        <button type="button" class="unseen-rows" onClick={() => box.current?.scrollTo({ top: 0 })}>
          ↑ {unseen} new
        </button>
      )}
      <div
        ref={box}
        class="list"
        role="listbox"
        tabIndex={0}
        aria-label={label}
        aria-activedescendant={shown.some(({ id }) => id === selected) ? `row-${selected}` : undefined}
        onKeyDown={onKeyDown}
      >
        <div role="presentation" class="list-space" style={{ height: `${items.length * rowHeight}px` }}>
          {shown.map((item, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list box has the keys.
            // biome-ignore lint/a11y/useFocusableInteractive: the list box has the focus.
            <div
              key={item.id}
              id={`row-${item.id}`}
              role="option"
              class="row"
              aria-selected={item.id === selected}
              aria-setsize={items.length}
              aria-posinset={from + index + 1}
              style={{ top: `${(from + index) * rowHeight}px`, height: `${rowHeight}px` }}
              onClick={() => onSelect(item.id, 'push')}
            >
              {children(item)}
            </div>
          ))}
        </div>
      </div>
    </>
  );
}

const query = matchMedia('(max-width: 720px)');

/** Whether the page is as narrow as a phone, as the style sheet sees it. */
function useIsNarrow(): boolean {
  const [isNarrow, setIsNarrow] = useState(query.matches);
  useEffect(() => {
    const listener = () => setIsNarrow(query.matches);
    query.addEventListener('change', listener);
    return () => query.removeEventListener('change', listener);
  }, []);
  return isNarrow;
}
