import { useEffect, useState } from 'preact/hooks';
import { type Delivery, get, type List, type Order, pathOf, post } from './api.ts';
import { DeliveryButtons } from './exchange-detail.tsx';
import { Faults, Status, shownDate } from './labels.tsx';
import { attempt, navigate, useStore } from './store.ts';

export function OrdersView() {
  const {
    orders,
    address: { open, search },
  } = useStore();
  const items = orders?.items ?? [];
  const isOpen = ({ platform_order_ref, partner_order_id }: Order) =>
    platform_order_ref === open || partner_order_id === open;
  const selected = items.find(isOpen);
  const shown = items.filter((order) =>
    [order.partner_order_id, order.platform_order_ref, order.state]
      .join(' ')
      .toLowerCase()
      .includes(search.toLowerCase()),
  );
  return (
    <div class={selected === undefined ? 'panes' : 'panes open'}>
      <section class="pane" aria-label="Orders">
        <div class="bar">
          <input
            type="search"
            placeholder="Search  ( / )"
            aria-label="Search the orders"
            value={search}
            onInput={(event) => navigate({ search: event.currentTarget.value }, 'replace')}
          />
          <output class="muted">
            {items.length === orders?.total
              ? items.length
              : `the newest ${items.length} of ${orders?.total ?? 0}`}
          </output>
        </div>
        {shown.length === 0 && <p class="empty">{items.length === 0 ? 'No orders yet.' : 'No matches.'}</p>}
        <ul class="cards">
          {shown.map((order) => (
            <li key={order.platform_order_ref}>
              <button
                type="button"
                class="order"
                aria-pressed={order === selected}
                onClick={() => navigate({ open: order.platform_order_ref })}
              >
                <b>{order.partner_order_id}</b>
                <span class={`pill ${stateClass(order.state)}`}>{order.state.replaceAll('_', ' ')}</span>
                <span>
                  {order.fiat_amount} {order.fiat_currency}{' '}
                  <span class="muted">
                    → {order.crypto_amount_to_receive} {order.pair.split('/')[1]}
                  </span>
                </span>
                <span class="muted">{shownDate(order.createdAt)}</span>
              </button>
            </li>
          ))}
        </ul>
      </section>
      {selected !== undefined && <OrderDetail key={selected.platform_order_ref} order={selected} />}
    </div>
  );
}

function OrderDetail({ order }: { order: Order }) {
  const { state } = useStore();
  const name = order.platform_order_ref;
  return (
    <article class="detail" aria-label={`Order ${order.partner_order_id}`}>
      <div class="detail-head">
        <h2>
          {order.partner_order_id}{' '}
          <span class={`pill ${stateClass(order.state)}`}>{order.state.replaceAll('_', ' ')}</span>
        </h2>
        <button type="button" class="quiet icon" aria-label="Close" onClick={() => navigate({ open: '' })}>
          ×
        </button>
      </div>
      <section class="card">
        <div class="card-head">
          <h3>What happens next</h3>
        </div>
        <div class="pad">
          {order.next.length === 0 && <p class="muted">The order is closed.</p>}
          <div class="buttons">
            {order.next.map((step) => (
              <button
                key={step}
                type="button"
                onClick={() =>
                  attempt(`Advanced to ${step}`, async () =>
                    outcomeOf(
                      (await post<{ delivery: Delivery }>(pathOf`orders/${name}/advance`, { step })).delivery,
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
            <span class="what">
              <b>{delivery.name}</b>{' '}
              <span class="muted">{delivery.attempts > 1 ? `${delivery.attempts} times` : ''}</span>
            </span>
            <Faults faults={delivery.faults} />
            <Status
              status={delivery.status}
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
