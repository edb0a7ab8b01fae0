import type { Order } from './api.ts';
import { SearchField } from './fields.tsx';
import { cut, shownDate, shownTime } from './labels.tsx';
import { NoOrder, OrderDetail, StatePill } from './order-detail.tsx';
import { navigate, refresh, store, update, useStore } from './store.ts';
import { targetOfKey } from './virtual-list.tsx';

export function OrdersView() {
  const { orders, order, address } = useStore();
  const { open, search } = address;
  const items = orders?.items ?? [];
  // The store is up to date: several keys may come before the next frame.
  const isOpen = ({ platform_order_ref, partner_order_id }: Order) =>
    platform_order_ref === store.address.open || partner_order_id === store.address.open;
  // The open order may be beyond the list, and `order` may still be an earlier one.
  const selected = items.find(isOpen) ?? (order !== undefined && isOpen(order) ? order : undefined);
  const total = orders?.total ?? 0;

  function onKeyDown(event: KeyboardEvent): void {
    const target = targetOfKey(event, { index: items.findIndex(isOpen), count: items.length });
    const name = target === undefined ? undefined : items[target]?.platform_order_ref;
    if (name === undefined) return;
    event.preventDefault();
    navigate({ open: name }, store.address.open === '' ? 'push' : 'replace');
    document.getElementById(`order-${name}`)?.scrollIntoView({ block: 'nearest' });
  }

  return (
    <div class={open === '' ? 'panes' : 'panes open'}>
      <section class="pane" aria-label="Orders">
        <div class="bar">
          <SearchField
            label="Search the orders"
            placeholder="Search id, state, amount, address, buyer"
            onKeyDown={onKeyDown}
          />
          <output class="muted">{items.length === total ? total : `${items.length} of ${total}`}</output>
        </div>
        {items.length === 0 ? (
          <p class="empty">
            {orders === undefined ? 'Reading…' : search === '' ? 'No orders yet.' : 'No matches.'}
          </p>
        ) : (
          // biome-ignore lint/a11y/noStaticElementInteractions: the buttons in it have the focus.
          <div class="scrolled" onKeyDown={onKeyDown}>
            <OrderTable orders={items} selected={selected?.platform_order_ref} />
            {items.length < total && <More shown={items.length} />}
          </div>
        )}
      </section>
      {selected !== undefined && <OrderDetail key={selected.platform_order_ref} order={selected} />}
      {open !== '' && selected === undefined && orders !== undefined && <NoOrder name={open} />}
    </div>
  );
}

/** The most that the server gives at once. */
const maxListed = 1000;

function More({ shown }: { shown: number }) {
  if (shown >= maxListed) return <p class="empty">Search to find the older ones.</p>;
  return (
    <p class="empty">
      <button
        type="button"
        onClick={() => {
          update({ maxOrders: Math.min(maxListed, shown + 200) });
          void refresh();
        }}
      >
        Show more
      </button>
    </p>
  );
}

function OrderTable({ orders, selected }: { orders: readonly Order[]; selected: string | undefined }) {
  return (
    <table class="orders">
      <thead>
        <tr>
          <th scope="col">Order</th>
          <th scope="col">State</th>
          <th scope="col" class="number">
            Amount
          </th>
          <th scope="col" class="number wide">
            Receives
          </th>
          <th scope="col">Last event</th>
          <th scope="col" class="wide">
            Created
          </th>
        </tr>
      </thead>
      <tbody>
        {orders.map((order) => (
          <tr
            key={order.platform_order_ref}
            id={`order-${order.platform_order_ref}`}
            class={order.platform_order_ref === selected ? 'selected' : undefined}
          >
            <td>
              <button
                type="button"
                class="cell"
                aria-pressed={order.platform_order_ref === selected}
                onClick={() => navigate({ open: order.platform_order_ref })}
              >
                {cut(order.partner_order_id)}
              </button>
            </td>
            <td>
              <StatePill state={order.state} />
            </td>
            <td class="number">
              {order.fiat_amount} {order.fiat_currency}
            </td>
            <td class="number wide">
              {order.crypto_amount_to_receive} {order.pair.split('/')[1]}
            </td>
            <td>
              <LastEvent event={order.lastEvent} />
            </td>
            <td class="muted wide">{shownDate(order.createdAt)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function LastEvent({ event }: { event: Order['lastEvent'] }) {
  if (event === undefined) return <span class="muted">none</span>;
  const { name, postedAt, status } = event;
  return (
    <>
      {postedAt === undefined ? (
        <span class="muted">not posted</span>
      ) : (
        <time dateTime={new Date(postedAt).toISOString()} title={shownDate(postedAt)}>
          {shownTime(postedAt)}
        </time>
      )}{' '}
      <span class="muted">
        {name.replace(/^event\.buy\./, '')}
        {status === undefined || status < 300 ? '' : `, ${status}`}
      </span>
    </>
  );
}
