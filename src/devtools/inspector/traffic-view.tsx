import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { getText, isListening } from './api.ts';
import { ExchangeDetail } from './exchange-detail.tsx';
import { SearchField } from './fields.tsx';
import { cut, Faults, SignatureBadge, Status, shownTime } from './labels.tsx';
import { attempt, navigate, useStore } from './store.ts';
import { type Filter, type Row, select } from './traffic-rows.ts';
import { VirtualList } from './virtual-list.tsx';

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
  const { rows, rowsVersion, address, found, forgotten } = useStore();
  const { show, search } = address;
  const isNarrow = useIsNarrow();
  const keys = useRef<((event: KeyboardEvent) => void) | undefined>(undefined);
  const ids = found?.search === search ? found.ids : noIds;
  const shown = useMemo(
    () => select(rows.values(), { show, search, found: ids }),
    [rowsVersion, show, search, ids],
  );
  const selected = rows.get(Number(address.open));
  return (
    <div class={selected === undefined ? 'panes' : 'panes open'}>
      <section class="pane" aria-label="Traffic">
        <div class="bar">
          <SearchField
            label="Search the traffic"
            placeholder="Search names, orders, bodies, 404"
            title={searchHelp}
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
            {forgotten > 0 && `; ${forgotten} older entries are gone`}
          </output>
          <a
            href="trace"
            download="traffic.json"
            title="The traffic as JSON, for the command replay"
            onClick={(event) => {
              // A link by itself would not send the token.
              event.preventDefault();
              void attempt('Saved the traffic', saveTraffic);
            }}
          >
            JSON
          </a>
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
      {selected !== undefined && <ExchangeDetail key={selected.id} row={selected} />}
    </div>
  );
}

async function saveTraffic(): Promise<void> {
  const url = URL.createObjectURL(new Blob([await getText('trace')], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'traffic.json';
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function Line({ row }: { row: Row }) {
  return (
    <>
      <Direction kind={row.kind} />
      <span class="what">
        <b>{cut(row.name)}</b>{' '}
        <span class="muted">{cut(row.kind === 'fault' ? (row.note ?? '') : row.where)}</span>
      </span>
      <span class="marks">
        <Faults faults={row.faults} />
        <SignatureBadge signature={row.signature} />
        {row.order !== '' && <span class="pill">{cut(row.order)}</span>}
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
