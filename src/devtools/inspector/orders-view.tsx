import { useState } from 'preact/hooks';
import type { ListedDelivery, ListedOrder, PlayedOrder } from '../sandbox/control/answers.ts';
import { call, pathOf } from './api.ts';
import {
  ActionButton,
  ActionForm,
  Card,
  Changes,
  Choice,
  cut,
  Detail,
  dateText,
  describePost,
  Facts,
  Faults,
  Status,
  timeText,
} from './elements.tsx';
import { DeliveryButtons } from './exchange-detail.tsx';
import { isFound, ListPane } from './list-pane.tsx';
import { CreateOrder } from './start-card.tsx';
import { isOpenOrder, useStore } from './store.ts';

export function OrdersView() {
  const { orders, address } = useStore();
  const { open, search } = address;
  const { items: listed = [], total = 0 } = orders ?? {};
  const items = listed.filter((order) => isFound(search, textOf(order)));
  const selected = listed.find(isOpenOrder);
  return (
    <div class={open === '' ? 'panes' : 'panes open'}>
      <ListPane
        label="Orders"
        placeholder="Search id, state, amount, address, buyer"
        count={items.length === total ? String(total) : `${items.length} of ${total}`}
        intro={open === '' && <CreateOrder />}
        items={items}
        idOf={({ platform_order_ref }) => platform_order_ref}
        isOpen={isOpenOrder}
        line={orderLine}
        empty={orders === undefined ? 'Reading…' : search === '' ? 'No orders yet.' : 'No matches.'}
      />
      {selected !== undefined && <OrderDetail key={selected.platform_order_ref} order={selected} />}
      {open !== '' && selected === undefined && orders !== undefined && (
        <Detail label="Unknown order" title={open}>
          <p class="muted">It is not among the last {listed.length} orders.</p>
        </Detail>
      )}
    </div>
  );
}

function textOf({ payload: _, deliveries: __, next: ___, ...order }: ListedOrder): string {
  return Object.values(order)
    .flatMap((value) => (typeof value === 'object' ? Object.values(value ?? {}) : value))
    .join(' ');
}

function orderLine(order: ListedOrder) {
  const last = order.deliveries.findLast(({ faults }) => faults.length === 0);
  return (
    <>
      <StatePill state={order.state} />
      <span class="what">
        <b>{cut(order.partner_order_id)}</b>{' '}
        <span class="muted">
          {order.fiat_amount} {order.fiat_currency}
        </span>
      </span>
      <span class="marks muted">{last?.name.replace(/^event\.buy\./, '')}</span>
      {last === undefined ? <span /> : <DeliveryStatus delivery={last} />}
      <time class="muted">{timeText(order.createdAt)}</time>
    </>
  );
}

function OrderDetail({ order }: { order: ListedOrder }) {
  const { partner_order_id, partner_callback_url, state, next, deliveries } = order;
  return (
    <Detail
      label={`Order ${partner_order_id}`}
      title={
        <>
          {cut(partner_order_id)} <StatePill state={state} />
        </>
      }
    >
      <Card title="Next steps">
        <Changes>
          <div class="pad">
            {next.length === 0 && <p class="muted">The order is closed.</p>}
            <div class="buttons">
              {next.map((step) => (
                <ActionButton key={step} done={`Advanced to ${step}`} act={() => play(order, { step })}>
                  {step.replaceAll('_', ' ')}
                </ActionButton>
              ))}
            </div>
            {state === 'created' && <PlayForm order={order} />}
          </div>
        </Changes>
      </Card>
      <Card title="Events" aside={<span class="muted">to {partner_callback_url}</span>}>
        <ul class="deliveries">
          {deliveries.map((delivery) => (
            <li key={delivery.id}>
              <time class="muted">{delivery.postedAt === undefined ? '' : timeText(delivery.postedAt)}</time>
              <b class="what">{delivery.name}</b>
              {delivery.attempts > 1 && <span class="muted">{delivery.attempts} times</span>}
              <Faults faults={delivery.faults} />
              <DeliveryStatus delivery={delivery} />
              <DeliveryButtons id={delivery.id} />
            </li>
          ))}
        </ul>
      </Card>
      <Card title="Order">
        <Facts facts={factsOf(order)} />
      </Card>
    </Detail>
  );
}

async function play(
  { platform_order_ref }: ListedOrder,
  move: { readonly step: string } | { readonly scenario: string },
): Promise<string> {
  const path = pathOf`orders/${platform_order_ref}/advance`;
  const { deliveries } = await call<PlayedOrder>('POST', path, move);
  const [delivery] = deliveries;
  if (delivery === undefined || deliveries.length > 1) return `${deliveries.length} events`;
  return `${delivery.name}, ${describePost(delivery)}`;
}

function PlayForm({ order }: { order: ListedOrder }) {
  const { state } = useStore();
  const [scenario, setScenario] = useState('happy');
  return (
    <ActionForm done={`Played ${scenario}`} act={() => play(order, { scenario })}>
      <Choice
        label="Or all steps at once"
        value={scenario}
        groups={{ Scenarios: state?.known.orderScenarios ?? [] }}
        onChange={setScenario}
      />
      <button type="submit">Play</button>
    </ActionForm>
  );
}

function DeliveryStatus({ delivery }: { delivery: ListedDelivery }) {
  const { status, faults, attempts, error } = delivery;
  const isAnswered = attempts === 0 || status !== undefined || error !== undefined;
  return (
    <Status
      status={status}
      faults={faults}
      note={attempts === 0 ? 'not posted' : error}
      isAnswered={isAnswered}
    />
  );
}

function factsOf({ next: _, deliveries: __, payload: ___, ...order }: ListedOrder): [string, string][] {
  const facts = Object.entries({ ...order, createdAt: dateText(order.createdAt) });
  return facts.flatMap(([name, value]) =>
    value === null ? [] : [[name, typeof value === 'object' ? JSON.stringify(value) : String(value)]],
  );
}

function StatePill({ state }: Pick<ListedOrder, 'state'>) {
  return <span class={`pill ${stateTones[state] ?? 'bad'}`}>{state.replaceAll('_', ' ')}</span>;
}

const stateTones: Readonly<Partial<Record<ListedOrder['state'], string>>> = {
  created: 'wait',
  fiat_received: 'wait',
  credited: 'good',
  refunded: 'plain',
};
