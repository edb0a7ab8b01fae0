import { useMemo } from 'preact/hooks';
import { cut, Faults, Status, timeText } from './elements.tsx';
import { ExchangeDetail } from './exchange-detail.tsx';
import { isFound, ListPane } from './list-pane.tsx';
import { keyOf } from './page-address.ts';
import { StartCard } from './start-card.tsx';
import { navigate, store, useStore } from './store.ts';
import { filters, maxRows, type Row } from './traffic-rows.ts';

export function TrafficView() {
  const { state, rows, address } = useStore();
  const { show, open, search } = address;
  const shown = useMemo(
    () =>
      [...rows.values()]
        .filter((row) => filters[show].matches(row) && isFound(search, textOf(row)))
        .reverse(),
    [rows, show, search],
  );
  const selected = rows.get(Number(open));
  const isNew = state !== undefined && state.counts.orders === 0 && open === '';
  return (
    <div class={selected === undefined ? 'panes' : 'panes open'}>
      <ListPane
        label="Requests and events"
        placeholder="Search name, path, order, status"
        tools={<Filters />}
        count={shown.length === maxRows ? `the last ${maxRows}` : String(shown.length)}
        intro={isNew && <StartCard state={state} />}
        items={shown}
        idOf={({ id }) => String(id)}
        isOpen={({ id }) => id === Number(store.address.open)}
        line={trafficLine}
        empty={search === '' && show === 'all' ? 'No requests or events yet.' : 'No matches.'}
      />
      {selected !== undefined && <ExchangeDetail key={selected.id} row={selected} />}
    </div>
  );
}

function textOf({ name, where, order, status, faults, note }: Row): string {
  return [name, where, order, status, ...faults, note].join(' ');
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
