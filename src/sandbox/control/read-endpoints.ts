import * as z from 'zod';
import { eventFaults, faultScenarios, faultTargets, requestFaults } from '../faults/faults.ts';
import type { SandboxOrder } from '../orders/order-registry.ts';
import { stepsAfter } from '../orders/order-registry.ts';
import { orderScenarios } from '../orders/order-scenarios.ts';
import { Refusal } from '../requests.ts';
import type { SandboxState } from '../state.ts';
import type { SandboxTrace, TraceEntry } from '../trace.ts';
import { type ControlContext, type Endpoint, endpoint } from './endpoint.ts';
import { examineSignature, explainSignature } from './examine-signature.ts';
import * as answers from './schemas.ts';

const page = {
  limit: z.coerce.number().int().min(1).max(1000).default(100).describe('how many at most'),
  offset: z.coerce.number().int().min(0).default(0).describe('how many of the newest to leave out'),
};
const ofOrder = { order: z.string().optional().describe('only those of this partner_order_id') };

export const traceQuery = z.strictObject({
  after: z.coerce.number().int().min(0).default(0).describe('only entries behind this id'),
  bodies: z.enum(['true', 'false']).default('true').describe('false leaves out headers and bodies'),
});

/** What can be read: no token is needed on the same machine. */
export const readEndpoints: readonly Endpoint[] = [
  endpoint({
    id: 'getState',
    method: 'GET',
    path: 'state',
    summary: 'Seed, addresses, time, counts, faults, and the names that requests may use',
    answer: answers.state,
    handle: (context) => stateOf(context),
  }),
  endpoint({
    id: 'listEmails',
    method: 'GET',
    path: 'emails',
    summary: 'Mails with their one-time links, the newest first',
    query: z.strictObject(page),
    answer: answers.listOf(answers.email),
    handle: ({ sandbox, query }) => paged(sandbox.emails, query),
  }),
  endpoint({
    id: 'listOrders',
    method: 'GET',
    path: 'orders',
    summary: 'Orders, the newest first',
    query: z.strictObject({ ...page, ...ofOrder }),
    answer: answers.listOf(answers.order),
    handle: ({ sandbox, state, query }) => {
      const { total, items } = paged(
        sandbox.orders.filter(({ partner_order_id }) => isOf(query.order, partner_order_id)),
        query,
      );
      return { total, items: items.map((order) => shownOrder(state, order)) };
    },
  }),
  endpoint({
    id: 'getOrder',
    method: 'GET',
    path: 'orders/{order}',
    summary: 'One order, by its platform_order_ref or a partner_order_id that only one partner uses',
    answer: answers.order,
    refusals: [404],
    handle: ({ state, params }) => shownOrder(state, findOrder(state, params.order ?? '')),
  }),
  endpoint({
    id: 'listDeliveries',
    method: 'GET',
    path: 'deliveries',
    summary: 'Events as posted, with the answer of the partner, the newest first',
    query: z.strictObject({ ...page, ...ofOrder }),
    answer: answers.listOf(answers.delivery),
    handle: ({ sandbox, query }) =>
      paged(
        sandbox.deliveries.filter(({ partner_order_id }) => isOf(query.order, partner_order_id)),
        query,
      ),
  }),
  endpoint({
    id: 'listMessages',
    method: 'GET',
    path: 'messages',
    summary: 'Messages of the messenger, the newest first',
    query: z.strictObject(page),
    answer: answers.listOf(answers.message),
    handle: ({ sandbox, query }) => paged(sandbox.messages, query),
  }),
  endpoint({
    id: 'listTrace',
    method: 'GET',
    path: 'trace',
    summary: 'Requests, replies, events and faults, the oldest first; go on with `after`',
    query: traceQuery.extend({ limit: page.limit }),
    answer: z.object({
      entries: z.array(answers.traceEntry),
      lastId: z.int(),
      forgotten: z.int().describe('entries up to this id are gone'),
    }),
    handle: ({ state, query: { after, bodies, limit } }) => {
      const { view } = state.trace;
      const entries = view.entries.filter(({ id }) => id > after).slice(0, limit);
      return { entries: entries.map((entry) => shownEntry(entry, bodies)), ...extentOf(state.trace.view) };
    },
  }),
  endpoint({
    id: 'getExchange',
    method: 'GET',
    path: 'trace/{id}',
    summary: 'A request or an event with its replies, and whether and with which key its signature holds',
    answer: answers.exchange,
    refusals: [404],
    handle: ({ state, params }) => {
      const entries = exchangeOf(state.trace.view, params.id ?? '');
      const [first] = entries;
      return { entries, signature: first && examineSignature(state, first) };
    },
  }),
  endpoint({
    id: 'explainSignature',
    method: 'GET',
    path: 'trace/{id}/explanation',
    summary: 'Why the signature of a request or an event does not hold; takes up to some seconds',
    answer: answers.explanation,
    refusals: [404, 409],
    handle: ({ state, params }) => {
      const [first] = exchangeOf(state.trace.view, params.id ?? '');
      return first && explainSignature(state, first);
    },
  }),
  endpoint({
    id: 'getFaults',
    method: 'GET',
    path: 'faults',
    summary: 'What is planned, and how often faults happen',
    answer: answers.faults,
    handle: ({ sandbox }) => sandbox.faults.current,
  }),
];

/** @throws {Refusal} 404 */
export function findOrder({ orders }: SandboxState, name: string): SandboxOrder {
  try {
    return orders.find(name);
  } catch {
    throw new Refusal(
      404,
      'unknown_order',
      'Not exactly one order has this name: give a partner_order_id that one partner uses, or the platform_order_ref.',
    );
  }
}

export function shownOrder({ options }: SandboxState, order: SandboxOrder) {
  return { ...order, next: stepsAfter(order.state, options.orderTransitions) };
}

export function shownEntry(entry: TraceEntry, bodies: 'true' | 'false'): TraceEntry {
  return bodies === 'true' ? entry : { ...entry, headers: undefined, body: undefined };
}

export function extentOf({ forgotten, entries }: SandboxTrace) {
  return { lastId: forgotten + entries.length, forgotten };
}

function stateOf({ sandbox, state, origin }: ControlContext) {
  const { seed, clock, emails, messages, faults } = sandbox;
  const { deployment } = state;
  const at = (base: string | undefined) => origin + new URL(base ?? origin).pathname;
  return {
    instance: state.instance,
    seed,
    masterKey: state.masterKey,
    deployment: {
      onboardingBaseUrl: at(deployment.onboardingBaseUrl),
      stagingUrl: at(deployment.stagingUrl),
      messengerBaseUrl: at(deployment.messengerBaseUrl),
      paths: deployment.paths,
      signature: deployment.signature,
    },
    clock: { now: clock.now(), nextAt: clock.nextAt },
    trace: extentOf(state.trace.view),
    counts: {
      orders: state.orders.size,
      deliveries: state.deliveryQueue.deliveries.length,
      emails: emails.length,
      messages: messages.length,
    },
    whitelistedIps: [...state.whitelist],
    faults: faults.current,
    known: {
      requestTargets: faultTargets.request,
      eventTargets: faultTargets.event,
      requestFaults: Object.keys(requestFaults),
      eventFaults: Object.keys(eventFaults),
      faultScenarios: Object.keys(faultScenarios),
      orderScenarios: Object.keys(orderScenarios),
    },
  };
}

/** The entries that belong to one, in order. @throws {Refusal} 404 */
export function exchangeOf({ entries }: SandboxTrace, id: string): TraceEntry[] {
  const found = /^\d{1,15}$/.test(id) ? entries.find((entry) => entry.id === Number(id)) : undefined;
  if (found === undefined) throw new Refusal(404, 'unknown_entry', 'The trace has no entry with this id.');
  return entries.filter(({ exchange }) => exchange === found.exchange);
}

function paged<Item>(all: readonly Item[], { limit, offset }: { limit: number; offset: number }) {
  const end = Math.max(0, all.length - offset);
  return { total: all.length, items: all.slice(Math.max(0, end - limit), end).reverse() };
}

function isOf(wanted: string | undefined, name: string): boolean {
  return wanted === undefined || wanted === name;
}
