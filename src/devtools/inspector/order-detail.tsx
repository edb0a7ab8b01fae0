import { useEffect, useState } from 'preact/hooks';
import { get, type List, type Order, type PostedEvent, pathOf, post } from './api.ts';
import { Card, Detail, Facts } from './detail.tsx';
import { DeliveryButtons } from './exchange-detail.tsx';
import { ActionForm, Choice, Options } from './fields.tsx';
import { Changes, cut, describePostResult, Faults, Status, shownDate, shownTime } from './labels.tsx';
import { attempt, useStore } from './store.ts';

export function OrderDetail({ order }: { order: Order }) {
  const { state } = useStore();
  const name = order.platform_order_ref;
  return (
    <Detail
      label={`Order ${order.partner_order_id}`}
      title={
        <>
          {cut(order.partner_order_id)} <StatePill state={order.state} />
        </>
      }
    >
      <Card title="What happens next">
        <div class="pad">
          <Changes>
            {order.next.length === 0 && <p class="muted">The order is closed.</p>}
            <div class="buttons">
              {order.next.map((step) => (
                <button
                  key={step}
                  type="button"
                  onClick={() => attempt(`Advanced to ${step}`, () => advance(order, step))}
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
      </Card>
      <Deliveries order={order} />
      <Card title="Order">
        <Facts facts={facts(order)} />
      </Card>
    </Detail>
  );
}

async function advance({ platform_order_ref }: Order, step: string): Promise<string> {
  const path = pathOf`orders/${platform_order_ref}/advance`;
  const { deliveries } = await post<{ deliveries: PostedEvent[] }>(path, { step });
  return deliveries.map((delivery) => `${delivery.name}, ${describePostResult(delivery)}`).join();
}

function PlayForm({ name, scenarios }: { name: string; scenarios: readonly string[] }) {
  const [scenario, setScenario] = useState('happy');
  const play = async () => {
    const path = pathOf`orders/${name}/play`;
    const { deliveries } = await post<{ deliveries: PostedEvent[] }>(path, { scenario });
    return `${deliveries.length} events`;
  };
  return (
    <ActionForm kind="buttons" done={`Played ${scenario}`} act={play}>
      <Choice label="All at once:" value={scenario} onChange={setScenario}>
        <Options label="Scenarios" values={scenarios} />
      </Choice>
      <button type="submit">Play</button>
    </ActionForm>
  );
}

function Deliveries({ order }: { order: Order }) {
  // The state is read after each traffic, which may have brought new events.
  const { state } = useStore();
  const [deliveries, setDeliveries] = useState<readonly PostedEvent[]>([]);
  const { partner_order_id, platform_order_ref } = order;
  useEffect(() => {
    const path = `deliveries?limit=50&order=${encodeURIComponent(partner_order_id)}`;
    get<List<PostedEvent>>(path).then(
      ({ items }) => setDeliveries(items),
      () => {},
    );
  }, [partner_order_id, state]);
  const own = deliveries.filter((each) => each.platform_order_ref === platform_order_ref);
  return (
    <Card title="Events" aside={<span class="muted">to {order.partner_callback_url}</span>}>
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
    </Card>
  );
}

function facts(order: Order): [string, string][] {
  const { account_name, account_number, bank_name } = order.payer_into_account;
  const all: [string, string | null][] = [
    ['partner_order_id', order.partner_order_id],
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

export function NoOrder({ name }: { name: string }) {
  return (
    <Detail label="Unknown order" title={name}>
      <p class="muted">
        The sandbox has no such order, or several partners use this id: search for it in the list.
      </p>
    </Detail>
  );
}

export function StatePill({ state }: Pick<Order, 'state'>) {
  return <span class={`pill ${stateClass(state)}`}>{state.replaceAll('_', ' ')}</span>;
}

function stateClass(state: Order['state']): string {
  if (state === 'credited') return 'good';
  if (state === 'created' || state === 'fiat_received') return 'wait';
  return state === 'refunded' ? '' : 'bad';
}
