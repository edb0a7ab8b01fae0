import * as z from 'zod';
import { isValidationError, whatFailed } from '../../../errors/errors.ts';
import type { Sandbox } from '../sandbox.ts';
import { orderScenarioNames } from '../service/order-scenarios.ts';
import { isForgery } from '../settings/event-faults.ts';
import { Refusal } from '../wire/requests.ts';
import type { SandboxDelivery } from '../world/delivery.ts';
import { type SandboxOrder, stepsAfter } from '../world/order-registry.ts';
import type { SandboxState } from '../world/state.ts';
import { endpoint } from './control-endpoint.ts';
import * as schemas from './schemas.ts';
import { matchesWords, paged } from './search-traffic.ts';

/** The sandbox that an operation acts on. */
export interface Subject {
  readonly sandbox: Sandbox<unknown>;
  readonly state: SandboxState;
}

const ofOrder = { order: z.string().optional().describe('only those of this partner_order_id') };

/** Orders and their events. */
export function orderOperations() {
  return [
    endpoint({
      id: 'listOrders',
      method: 'GET',
      path: 'orders',
      summary: 'Orders',
      query: z.strictObject({ ...schemas.pageQuery, ...ofOrder, search: schemas.searchQuery }),
      answer: schemas.listOf(schemas.orderSchema),
      handle: ({ query }, { sandbox, state }: Subject) => {
        const { total, items } = paged(
          sandbox.orders.filter(
            (order) => isOf(query.order, order.partner_order_id) && isFound(query.search, order),
          ),
          query,
        );
        const lastEvents = new Map(
          sandbox.deliveries
            .filter((delivery) => !isForgery(delivery))
            .map(({ platform_order_ref, name, postedAt, status }) => [
              platform_order_ref,
              { name, postedAt, status },
            ]),
        );
        return {
          total,
          items: items.map((order) => ({
            ...shownOrder(state, order),
            lastEvent: lastEvents.get(order.platform_order_ref),
          })),
        };
      },
    }),
    endpoint({
      id: 'getOrder',
      method: 'GET',
      path: 'orders/{order}',
      summary: 'One order, by its platform_order_ref or an unambiguous partner_order_id',
      answer: schemas.orderSchema,
      refusals: [404],
      handle: ({ params }, { state }: Subject) => shownOrder(state, findOrder(state, params.order ?? '')),
    }),
    endpoint({
      id: 'listDeliveries',
      method: 'GET',
      path: 'deliveries',
      summary: 'Events as posted, with the answers of the partner',
      query: z.strictObject({ ...schemas.pageQuery, ...ofOrder }),
      answer: schemas.listOf(schemas.deliverySchema),
      handle: ({ query }, { sandbox }: Subject) =>
        paged(
          sandbox.deliveries.filter(({ partner_order_id }) => isOf(query.order, partner_order_id)),
          query,
        ),
    }),
    endpoint({
      id: 'advanceOrder',
      method: 'POST',
      path: 'orders/{order}/advance',
      summary: 'Moves an order one step, posts its event, and waits for the answer',
      body: z.strictObject({ step: schemas.stepSchema }).meta({ examples: [{ step: 'credited' }] }),
      answer: z.object({ order: schemas.orderSchema, deliveries: z.array(schemas.deliverySchema) }),
      refusals: [404, 409],
      handle: async ({ params, body }, { sandbox, state }: Subject) => {
        const { platform_order_ref } = findOrder(state, params.order ?? '');
        const delivery = await refuseInvalid(sandbox.advance(platform_order_ref, body.step), notPossible);
        return { order: shownOrder(state, state.orders.find(platform_order_ref)), deliveries: [delivery] };
      },
    }),
    endpoint({
      id: 'playOrder',
      method: 'POST',
      path: 'orders/{order}/play',
      summary: 'Takes a new order through a scenario',
      body: z
        .strictObject({ scenario: z.enum(orderScenarioNames) })
        .meta({ examples: [{ scenario: 'happy' }] }),
      answer: z.object({ order: schemas.orderSchema, deliveries: z.array(schemas.deliverySchema) }),
      refusals: [404, 409],
      handle: async ({ params, body }, { sandbox, state }: Subject) => {
        const { platform_order_ref } = findOrder(state, params.order ?? '');
        const deliveries = await refuseInvalid(sandbox.play(platform_order_ref, body.scenario), notPossible);
        return { order: shownOrder(state, state.orders.find(platform_order_ref)), deliveries };
      },
    }),
    deliveryAction({
      id: 'redeliver',
      summary: 'Posts the same text again',
      post: (sandbox, id) => sandbox.redeliver(id),
    }),
    deliveryAction({
      id: 'forge',
      summary: 'Posts a copy signed with an unknown key',
      post: (sandbox, id) => sandbox.events.forge(id),
    }),
    deliveryAction({
      id: 'tamper',
      summary: 'Posts a copy with another amount and the old signature',
      post: (sandbox, id) => sandbox.events.tamper(id),
    }),
  ];
}

function deliveryAction<const Id extends string>({
  id,
  summary,
  post,
}: {
  id: Id;
  summary: string;
  post: (sandbox: Sandbox<unknown>, id: string) => Promise<SandboxDelivery>;
}) {
  return endpoint({
    id,
    method: 'POST',
    path: `deliveries/{id}/${id}`,
    summary,
    answer: schemas.deliverySchema,
    refusals: [404],
    handle: ({ params }, { sandbox }: Subject) =>
      refuseInvalid(post(sandbox, params.id ?? ''), unknownDelivery),
  });
}

/** @throws {Refusal} 404 */
function findOrder({ orders }: SandboxState, name: string): SandboxOrder {
  try {
    return orders.find(name);
  } catch (error) {
    throw isValidationError(error) ? new Refusal(404, 'unknown_order', whatFailed(error)) : error;
  }
}

function shownOrder({ options }: SandboxState, order: SandboxOrder) {
  return { ...order, next: stepsAfter(order.state, options.orderTransitions) };
}

function isFound(search: string, order: SandboxOrder): boolean {
  const { transactional_kyc: kyc, ...own } = order;
  return matchesWords(search, [
    ...[own.partner_order_id, own.platform_order_ref, own.state, own.state.replaceAll('_', ' ')],
    ...[own.fiat_amount, own.fiat_currency, own.crypto_amount_to_receive, own.pair, own.chain],
    ...[own.buyer_crypto_address, own.crypto_txn_hash, own.partner_callback_url],
    ...[kyc.email, kyc.phone, kyc.first_name, kyc.last_name],
  ]);
}

function isOf(wanted: string | undefined, name: string): boolean {
  return wanted === undefined || wanted === name;
}

const notPossible = { status: 409, code: 'not_possible' };
const unknownDelivery = { status: 404, code: 'unknown_delivery' };

/** Answers a `ValidationError` with this status and code. */
async function refuseInvalid<Result>(
  result: Promise<Result>,
  { status, code }: { status: number; code: string },
): Promise<Result> {
  return result.catch((error: unknown) => {
    throw isValidationError(error) ? new Refusal(status, code, whatFailed(error)) : error;
  });
}
