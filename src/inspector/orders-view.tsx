import { useEffect, useState } from 'preact/hooks';
import { type Delivery, get, type List, type Order, pathOf, post } from './api.ts';
import { DeliveryButtons } from './exchange-detail.tsx';
import { Changes, Faults, Status, shownDate, shownTime } from './labels.tsx';
import { targetOfKey } from './list-keys.ts';
import { attempt, navigate, refresh, update, useStore } from './store.ts';

export function OrdersView() {
  const { orders, order, address } = useStore();
  const { open, search } = address;
  const items = orders?.items ?? [];
  const isOpen = ({ platform_order_ref, partner_order_id }: Order) =>
    platform_order_ref === open || partner_order_id === open;
  // The list may not hold the open order, and the answer about it may be that about an earlier one.
  const selected = items.find(isOpen) ?? (order !== undefined && isOpen(order) ? order : undefined);
  const total = orders?.total ?? 0;

  function onKeyDown(event: KeyboardEvent): void {
    const target = targetOfKey(event, { index: items.findIndex(isOpen), count: items.length });
    const name = target === undefined ? undefined : items[target]?.platform_order_ref;
    if (name === undefined) return;
    event.preventDefault();
    navigate({ open: name }, open === '' ? 'push' : 'replace');
    document.getElementById(`order-${name}`)?.scrollIntoView({ block: 'nearest' });
  }

  return (
    <div class={open === '' ? 'panes' : 'panes open'}>
      <section class="pane" aria-label="Orders">
        <div class="bar">
          <input
            type="search"
            placeholder="Search id, state, amount, address, buyer  ( / )"
            aria-label="Search the orders"
            value={search}
            onInput={(event) => navigate({ search: event.currentTarget.value }, 'replace')}
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
                {order.partner_order_id}
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

function StatePill({ state }: Pick<Order, 'state'>) {
  return <span class={`pill ${stateClass(state)}`}>{state.replaceAll('_', ' ')}</span>;
}

function NoOrder({ name }: { name: string }) {
  return (
    <article class="detail" aria-label="Unknown order">
      <div class="detail-head">
        <h2>{name}</h2>
        <CloseButton />
      </div>
      <p class="muted">
        The sandbox has no such order, or several partners use this id: search for it in the list.
      </p>
    </article>
  );
}

function CloseButton() {
  return (
    <button type="button" class="quiet icon" aria-label="Close" onClick={() => navigate({ open: '' })}>
      ×
    </button>
  );
}

function OrderDetail({ order }: { order: Order }) {
  const { state } = useStore();
  const name = order.platform_order_ref;
  return (
    <article class="detail" aria-label={`Order ${order.partner_order_id}`}>
      <div class="detail-head">
        <h2>
          {order.partner_order_id} <StatePill state={order.state} />
        </h2>
        <CloseButton />
      </div>
      <section class="card">
        <div class="card-head">
          <h3>What happens next</h3>
        </div>
        <div class="pad">
          <Changes>
            {order.next.length === 0 && <p class="muted">The order is closed.</p>}
            <div class="buttons">
              {order.next.map((step) => (
                <button
                  key={step}
                  type="button"
                  onClick={() =>
                    attempt(`Advanced to ${step}`, async () =>
                      outcomeOf(
                        (await post<{ delivery: Delivery }>(pathOf`orders/${name}/advance`, { step }))
                          .delivery,
                      ),
                    )
                  }
                >
                  {step.replaceAll('_', ' ')}
                </button>
              ))}
            </div>
            {order.state === 'created' && (
              <PlayForm name={name} scenarios={state?.known.orderScenarios ?? []} />
            )}
          </Changes>
        </div>
      </section>
      <Deliveries order={order} />
      <section class="card">
        <div class="card-head">
          <h3>Order</h3>
        </div>
        <dl class="headers">
          {facts(order).map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </section>
    </article>
  );
}

function PlayForm({ name, scenarios }: { name: string; scenarios: readonly string[] }) {
  const [scenario, setScenario] = useState('happy');
  return (
    <form
      class="buttons"
      onSubmit={(event) => {
        event.preventDefault();
        void attempt(`Played ${scenario}`, async () => {
          const { deliveries } = await post<{ deliveries: Delivery[] }>(pathOf`orders/${name}/play`, {
            scenario,
          });
          return `${deliveries.length} events`;
        });
      }}
    >
      <label>
        All at once:{' '}
        <select value={scenario} onChange={(event) => setScenario(event.currentTarget.value)}>
          {scenarios.map((each) => (
            <option key={each} value={each}>
              {each.replaceAll('_', ' ')}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Play</button>
    </form>
  );
}

function Deliveries({ order }: { order: Order }) {
  // Read again when there is traffic, since there may be new events.
  const { state } = useStore();
  const [deliveries, setDeliveries] = useState<readonly Delivery[]>([]);
  const { partner_order_id, platform_order_ref } = order;
  useEffect(() => {
    const path = `deliveries?limit=50&order=${encodeURIComponent(partner_order_id)}`;
    get<List<Delivery>>(path).then(
      ({ items }) => setDeliveries(items),
      () => {},
    );
  }, [partner_order_id, state]);
  const own = deliveries.filter((each) => each.platform_order_ref === platform_order_ref);
  return (
    <section class="card">
      <div class="card-head">
        <h3>Events</h3>
        <span class="muted">to {order.partner_callback_url}</span>
      </div>
      <ul class="deliveries">
        {own.map((delivery) => (
          <li key={delivery.id}>
            <time class="muted">{delivery.postedAt === undefined ? '' : shownTime(delivery.postedAt)}</time>
            <span class="what">
              <b>{delivery.name}</b>{' '}
              <span class="muted">{delivery.attempts > 1 ? `${delivery.attempts} times` : ''}</span>
            </span>
            <Faults faults={delivery.faults} />
            <Status
              status={delivery.status}
              faults={delivery.faults}
              note={delivery.attempts === 0 ? 'not posted' : delivery.error}
              isAnswered={
                delivery.attempts === 0 || delivery.status !== undefined || delivery.error !== undefined
              }
            />
            <DeliveryButtons id={delivery.id} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function outcomeOf({ name, status, error }: Delivery): string {
  return `${name}, ${status === undefined ? `no answer (${error ?? 'not posted'})` : `answered with ${status}`}`;
}

function facts(order: Order): [string, string][] {
  const { account_name, account_number, bank_name } = order.payer_into_account;
  const all: [string, string | null][] = [
    ['platform_order_ref', order.platform_order_ref],
    ['fiat_amount', `${order.fiat_amount} ${order.fiat_currency}`],
    ['exchange_rate', order.exchange_rate],
    ['crypto_amount_to_receive', String(order.crypto_amount_to_receive)],
    ['chain', order.chain],
    ['buyer_crypto_address', order.buyer_crypto_address],
    ['fiat_payment_status', order.fiat_payment_status],
    ['crypto_payment_status', order.crypto_payment_status],
    ['payer_into_account', `${account_name}, ${bank_name} ${account_number}`],
    ['payment_link', order.payment_link],
    ['crypto_txn_hash', order.crypto_txn_hash],
    ['created', shownDate(order.createdAt)],
  ];
  return all.flatMap(([label, value]) => (value === null ? [] : [[label, value] as [string, string]]));
}

function stateClass(state: Order['state']): string {
  if (state === 'credited') return 'good';
  if (state === 'created' || state === 'fiat_received') return 'wait';
  return state === 'refunded' ? '' : 'bad';
}
