import { useMemo } from 'preact/hooks';
import { cut, Faults, Status, timeText } from './elements.tsx';
import { ExchangeDetail } from './exchange-detail.tsx';
import { ListPane } from './list-pane.tsx';
import { keyOf } from './page-address.ts';
import { StartCard } from './start-card.tsx';
import { navigate, store, useStore } from './store.ts';
import { filters, maxRows, type Row } from './traffic-rows.ts';

const searchHelp =
  'Every word must be in the name, the path, the order or a body. Three digits are a status.';

export function TrafficView() {
  const { state, rows, foundRows = rows, address } = useStore();
  const { show, open, search } = address;
  const shown = useMemo(
    () => [...foundRows.values()].filter(filters[show].matches).reverse(),
    [foundRows, show],
  );
  const selected = foundRows.get(Number(open)) ?? rows.get(Number(open));
  const isNew = state !== undefined && state.counts.orders === 0 && open === '';
  return (
    <div class={selected === undefined ? 'panes' : 'panes open'}>
      <ListPane
        label="Requests and events"
        placeholder="Search names, orders, bodies, 404"
        help={searchHelp}
        tools={<Filters />}
        count={shown.length === maxRows ? `the last ${maxRows}` : String(shown.length)}
        intro={isNew && <StartCard state={state} />}
        items={shown}
        idOf={({ id }) => String(id)}
        isOpen={({ id }) => id === Number(store.address.open)}
        line={trafficLine}
        empty={search === '' && show === 'all' ? 'No requests or events yet.' : `No matches. ${searchHelp}`}
      />
      {selected !== undefined && <ExchangeDetail key={selected.id} row={selected} />}
    </div>
  );
}

function Filters() {
  const { address } = useStore();
  return (
    <select
      aria-label="Show"
      value={address.show}
      onChange={({ currentTarget: { value } }) =>
        navigate({ show: keyOf(filters, value) ?? 'all' }, 'replace')
      }
    >
      {Object.entries(filters).map(([name, { title }]) => (
        <option key={name} value={name}>
          {title}
        </option>
      ))}
    </select>
  );
}

function trafficLine(row: Row) {
  return (
    <>
      <Direction kind={row.kind} />
      <span class="what">
        <b>{cut(row.name)}</b>{' '}
        <span class="muted">{cut(row.kind === 'fault' ? (row.note ?? '') : row.where)}</span>
      </span>
      <span class="marks">
        <Faults faults={row.faults} />
        {row.order !== '' && <span class="pill">{cut(row.order)}</span>}
      </span>
      {row.kind === 'fault' ? <span /> : <Status {...row} />}
      <time class="muted">{timeText(row.time)}</time>
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
    <span class={`direction ${kind}`} role="img" aria-label={title} title={title}>
      {icon}
    </span>
  );
}
