import * as z from 'zod';
import { operationUrl } from '../../../deployment/define-deployment.ts';
import { toWireNames } from '../../../deployment/wire-names.ts';
import { signBody } from '../../../signature/sign-body.ts';
import type { Sandbox } from '../sandbox.ts';
import { orderScenarioNames } from '../service/order-scenarios.ts';
import { orderKey } from '../service/post-event.ts';
import { Refusal } from '../wire/requests.ts';
import { orderSteps, type SandboxOrder, stepsAfter } from '../world/order-registry.ts';
import type { Partner } from '../world/partner-registry.ts';
import type { SandboxState } from '../world/state.ts';
import type { CreateOrderAnswer, List, ListedOrder, PlayedOrder, PostedDelivery } from './answers.ts';
import { type ControlEndpoint, endpoint } from './control-endpoint.ts';
import { extentOf } from './traffic-endpoints.ts';

const orderBody = z
  .strictObject({ partner_callback_url: z.url({ protocol: /^https?$/ }) })
  .meta({ examples: [{ partner_callback_url: 'http://127.0.0.1:3000/orders' }] });

const moveBody = z
  .union([
    z.strictObject({ step: z.enum(orderSteps) }),
    z.strictObject({ scenario: z.enum(orderScenarioNames) }),
  ])
  .meta({ examples: [{ step: 'credited' }, { scenario: 'happy' }] });

const postBody = z
  .strictObject({ as: z.enum(['again', 'forged', 'tampered']) })
  .meta({ examples: [{ as: 'forged' }] });

/** The endpoints of orders and their events. */
export function orderEndpoints(sandbox: Sandbox<unknown>, state: SandboxState): readonly ControlEndpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: 'orders',
      summary: 'The last orders, each with its events and the answers to them',
      query: z.strictObject({
        limit: z.coerce.number().int().min(1).max(1000).default(100),
      }),
      handle: ({ query: { limit } }): List<ListedOrder> => {
        const { orders } = sandbox;
        return { total: orders.length, items: withDeliveries(state, orders.slice(-limit).reverse()) };
      },
    }),
    endpoint({
      method: 'POST',
      path: 'orders',
      summary: 'Creates an order as the client of the first partner does',
      body: orderBody,
      handle: ({ body }) => createOrder(sandbox, state, body),
    }),
    endpoint({
      method: 'POST',
      path: 'orders/{order}/advance',
      summary: 'Moves an order by a step or a scenario, posts its events, and waits for the answers',
      body: moveBody,
      handle: async ({ params: { order = '' }, body }): Promise<PlayedOrder> => {
        const { platform_order_ref: ref } = state.orders.find(order);
        const deliveries =
          'scenario' in body
            ? await sandbox.play(ref, body.scenario)
            : [await sandbox.advance(ref, body.step)];
        return { order: listedOrder(state, ref), deliveries };
      },
    }),
    endpoint({
      method: 'POST',
      path: 'deliveries/{id}/post',
      summary: 'Posts an event again, or a copy that a receiver must refuse: `forged` or `tampered`',
      body: postBody,
      handle: async ({ params: { id = '' }, body }): Promise<PostedDelivery> => {
        const delivery = await sandbox.redeliver(id, body.as);
        const entry = state.trace.view.entries.findLast(
          (each) => each.kind === 'event' && each.delivery === delivery.id,
        );
        return { ...delivery, exchange: entry?.id };
      },
    }),
  ];
}

/** The partner whose keys the page shows: the first whose keys are valid. */
export function firstPartner({ partners }: SandboxState): Partner | undefined {
  return partners.all.find(({ validFrom }) => validFrom !== undefined);
}

async function createOrder(
  sandbox: Sandbox<unknown>,
  state: SandboxState,
  body: z.output<typeof orderBody>,
): Promise<CreateOrderAnswer> {
  const { deployment, options, trace } = state;
  const partner = firstPartner(state);
  if (partner === undefined)
    throw new Refusal(409, 'no_partner', 'Onboard a partner first, and open the link in its mail.');
  const { credentials } = partner;
  const order = {
    partner_order_id: unusedId(sandbox),
    fiat_amount: '15000.50',
    fiat_currency: 'NGN',
    chain: 'usdt-trc20',
    buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
    ...body,
  };
  const key = orderKey(state, credentials, order);
  const { text } = signBody(toWireNames(order, deployment.wireNames), { key, scheme: deployment.signature });
  const url = operationUrl(deployment, 'createOrder');
  const { lastId } = extentOf(trace.view);
  const answer = await sandbox
    .fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${credentials.partnerPublicKey}`,
      },
      body: text,
      signal: AbortSignal.timeout(options.callbackTimeoutMs),
    })
    .then(
      ({ status }) => ({ status, error: undefined }),
      (error: unknown) => ({ status: undefined, error: error instanceof Error ? error.name : 'unknown' }),
    );
  const request = trace.view.entries.find(({ id, body: sent }) => id > lastId && sent === text);
  return { ...answer, exchange: request?.id, partner_order_id: order.partner_order_id };
}

/** An id as in the guides: A-1001, A-1002, … */
function unusedId({ orders }: Sandbox<unknown>): string {
  const used = new Set(orders.map(({ partner_order_id }) => partner_order_id));
  let number = 1001 + orders.length;
  while (used.has(`A-${number}`)) number++;
  return `A-${number}`;
}

function withDeliveries(
  { options, deliveryQueue }: SandboxState,
  orders: readonly SandboxOrder[],
): readonly ListedOrder[] {
  const deliveries = Map.groupBy(deliveryQueue.deliveries, ({ platform_order_ref: ref }) => ref);
  return orders.map((order) => ({
    ...order,
    next: stepsAfter(order.state, options.orderTransitions),
    deliveries: (deliveries.get(order.platform_order_ref) ?? []).map(({ body: _, ...delivery }) => delivery),
  }));
}

function listedOrder(state: SandboxState, name: string): ListedOrder {
  const [order] = withDeliveries(state, [state.orders.find(name)]);
  // Sound: one for each order.
  return order as ListedOrder;
}
