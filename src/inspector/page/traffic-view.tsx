import { useMemo, useState } from 'preact/hooks';
import { isListening } from './api.ts';
import { Faults, SignatureBadge, Status } from './badges.tsx';
import { ExchangeDetail } from './exchange-detail.tsx';
import { useIsNarrow } from './is-narrow.ts';
import { type Filter, type Row, select } from './rows.ts';
import { update, useStore } from './store.ts';
import { shownTime } from './time.ts';
import { VirtualList } from './virtual-list.tsx';

const titles: Readonly<Record<Filter, string>> = {
  all: 'All',
  requests: 'Requests',
  events: 'Events',
  failed: 'Failed',
  faults: 'With faults',
  unverified: 'Not verified',
};
/** Those of the filters that can find something. */
const offered: readonly Filter[] = isListening
  ? ['all', 'failed', 'unverified']
  : ['all', 'requests', 'events', 'failed', 'faults'];

/** What goes over the wire, live. */
export function TrafficView() {
  const { rows, rowsVersion, selectedRow } = useStore();
  const [filter, setFilter] = useState<Filter>('all');
  const [search, setSearch] = useState('');
  const isNarrow = useIsNarrow();
  const shown = useMemo(() => select(rows.values(), filter, search), [rowsVersion, filter, search]);
  const selected = selectedRow === undefined ? undefined : rows.get(selectedRow);
  return (
    <div class={selected === undefined ? 'panes' : 'panes open'}>
      <section class="pane" aria-label="Traffic">
        <div class="bar">
          <input
            type="search"
            placeholder="Search  ( / )"
            aria-label="Search the traffic"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
          <select
            aria-label="Show"
            value={filter}
            onChange={(event) => setFilter(filterOf(event.currentTarget.value))}
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
        </div>
        {shown.length === 0 ? (
          <Empty isSearched={rows.size > 0} />
        ) : (
          <VirtualList
            label="Requests and events, the newest first"
            items={shown}
            rowHeight={isNarrow ? 62 : 42}
            selected={selectedRow}
            onSelect={(id) => update({ selectedRow: id })}
          >
            {(row) => <Line row={row} />}
          </VirtualList>
        )}
      </section>
      {selected !== undefined && <ExchangeDetail key={selected.id} row={selected} />}
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

function Empty({ isSearched }: { isSearched: boolean }) {
  const { state } = useStore();
  if (isSearched)
    return <p class="empty">Nothing fits. Every word is looked for in names, paths, orders and statuses.</p>;
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
