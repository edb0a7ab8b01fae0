import * as z from 'zod';
import { isValidationError, whatFailed } from '../../errors/errors.ts';
import type { SandboxDelivery } from '../events/delivery.ts';
import { eventFaultNames, faultScenarioNames, faultTargets, requestFaultNames } from '../faults/faults.ts';
import { type SandboxOrder, stepsAfter } from '../orders/order-registry.ts';
import { orderScenarioNames } from '../orders/order-scenarios.ts';
import { Refusal } from '../requests.ts';
import type { Sandbox } from '../sandbox.ts';
import type { SandboxState } from '../state.ts';
import { type Endpoint, endpoint } from './endpoint.ts';
import { examineSignature, explainSignature } from './examine-signature.ts';
import { faultOperations, refuseInvalidOption } from './fault-endpoints.ts';
import { refusalAdvice } from './refusal-advice.ts';
import * as answers from './schemas.ts';
import { matchesWords } from './search.ts';
import { sendEdited } from './send-edited.ts';
import { keysOf } from './session.ts';
import { exchangeOf, extentOf, trafficEndpoints } from './traffic-endpoints.ts';

const page = {
  limit: answers.limit,
  offset: z.coerce.number().int().min(0).default(0).describe('how many of the newest to leave out'),
};
const ofOrder = { order: z.string().optional().describe('only those of this partner_order_id') };

const fourHundredDaysMs = 400 * 24 * 60 * 60 * 1000;

export function sandboxEndpoints(sandbox: Sandbox<unknown>, state: SandboxState): readonly Endpoint[] {
  const subject = { sandbox, state };
  return [
    ...trafficEndpoints({
      source: 'sandbox',
      trace: sandbox.trace,
      add: state.trace.add,
      secrets: () => secretsOf(state),
      examine: (entry) => examineSignature(state, entry),
      advise: refusalAdvice,
      explain: (entry) => explainSignature(state, entry),
    }),
    endpoint({
      id: 'sendEdited',
      method: 'POST',
      path: 'trace/{id}/send',
      summary: 'Sends an edited copy: of an event to its callback, of a request to this sandbox',
      body: answers.editedCopy
        .extend({
          url: z
            .url({ protocol: /^https?$/ })
            .optional()
            .describe('another address for an event'),
          signature: z.enum(['keep', 'renew']).default('keep'),
        })
        .meta({ examples: [{ signature: 'renew' }] }),
      maxBodyBytes: answers.maxCopyBytes,
      answer: answers.sentCopy,
      refusals: [404, 409],
      handle: ({ params, body: edit }) =>
        sendEdited(sandbox, state, { entry: exchangeOf(sandbox.trace, params.id).first, edit }),
    }),
    ...sandboxOperations().map((each) => ({
      ...each,
      handle: (call: Parameters<Endpoint['handle']>[0]) => each.handle(call, subject),
    })),
  ];
}

interface Subject {
  readonly sandbox: Sandbox<unknown>;
  readonly state: SandboxState;
}

/** What can be asked of a sandbox, and done with it, apart from its traffic. */
export function sandboxOperations() {
  return [
    endpoint({
      id: 'getState',
      method: 'GET',
      path: 'state',
      summary: 'Seed, addresses, time, counts, faults, and the names for requests',
      answer: answers.state,
      handle: ({ origin }, { sandbox, state }: Subject) => stateOf(sandbox, state, origin),
    }),
    endpoint({
      id: 'listEmails',
      method: 'GET',
      path: 'emails',
      summary: 'Mails with their one-time links, the newest first',
      query: z.strictObject(page),
      answer: answers.listOf(answers.email),
      handle: ({ query }, { sandbox, state }: Subject) => {
        const { total, items } = paged(sandbox.emails, query);
        return {
          total,
          items: items.map((mail) => ({ ...mail, linkState: state.partners.linkState(mail.link) })),
        };
      },
    }),
    endpoint({
      id: 'listOrders',
      method: 'GET',
      path: 'orders',
      summary: 'Orders, the newest first',
      query: z.strictObject({ ...page, ...ofOrder, search: answers.search }),
      answer: answers.listOf(answers.order),
      handle: ({ query }, { sandbox, state }: Subject) => {
        const { total, items } = paged(
          sandbox.orders.filter(
            (order) => isOf(query.order, order.partner_order_id) && isFound(query.search, order),
          ),
          query,
        );
        const lastEvents = new Map(
          sandbox.deliveries
            .filter(isGenuine)
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
      summary: 'One order, by its platform_order_ref or a partner_order_id that only one partner uses',
      answer: answers.order,
      refusals: [404],
      handle: ({ params }, { state }: Subject) => shownOrder(state, findOrder(state, params.order ?? '')),
    }),
    endpoint({
      id: 'listDeliveries',
      method: 'GET',
      path: 'deliveries',
      summary: 'Events as posted, with the answer of the partner, the newest first',
      query: z.strictObject({ ...page, ...ofOrder }),
      answer: answers.listOf(answers.delivery),
      handle: ({ query }, { sandbox }: Subject) =>
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
      query: z.strictObject({ ...page, search: answers.search }),
      answer: answers.listOf(answers.message),
      handle: ({ query }, { sandbox }: Subject) =>
        paged(
          sandbox.messages.filter(({ to_phone, message, messenger_device_no }) =>
            matchesWords(query.search, [to_phone, message, messenger_device_no]),
          ),
          query,
        ),
    }),
    endpoint({
      id: 'advanceOrder',
      method: 'POST',
      path: 'orders/{order}/advance',
      summary: 'Moves an order one step on and posts its event; replies when the partner has answered',
      body: z.strictObject({ step: answers.step }).meta({ examples: [{ step: 'credited' }] }),
      answer: z.object({ order: answers.order, delivery: answers.delivery }),
      refusals: [404, 409],
      handle: async ({ params, body }, { sandbox, state }: Subject) => {
        const { platform_order_ref } = findOrder(state, params.order ?? '');
        const delivery = await refuseConflict(sandbox.advance(platform_order_ref, body.step));
        return { order: shownOrder(state, state.orders.find(platform_order_ref)), delivery };
      },
    }),
    endpoint({
      id: 'playOrder',
      method: 'POST',
      path: 'orders/{order}/play',
      summary: 'Takes a new order through a scenario, with its events',
      body: z
        .strictObject({ scenario: z.enum(orderScenarioNames) })
        .meta({ examples: [{ scenario: 'happy' }] }),
      answer: z.object({ order: answers.order, deliveries: z.array(answers.delivery) }),
      refusals: [404, 409],
      handle: async ({ params, body }, { sandbox, state }: Subject) => {
        const { platform_order_ref } = findOrder(state, params.order ?? '');
        const deliveries = await refuseConflict(sandbox.play(platform_order_ref, body.scenario));
        return { order: shownOrder(state, state.orders.find(platform_order_ref)), deliveries };
      },
    }),
    endpoint({
      id: 'redeliver',
      method: 'POST',
      path: 'deliveries/{id}/redeliver',
      summary: 'Posts the same text again',
      answer: answers.delivery,
      refusals: [404],
      handle: ({ params }, { sandbox }: Subject) => refuseUnknownDelivery(sandbox.redeliver(params.id ?? '')),
    }),
    endpoint({
      id: 'forge',
      method: 'POST',
      path: 'deliveries/{id}/forge',
      summary: 'Posts a copy signed with a key that was never issued: a receiver has to refuse it',
      answer: answers.delivery,
      refusals: [404],
      handle: ({ params }, { sandbox }: Subject) =>
        refuseUnknownDelivery(sandbox.events.forge(params.id ?? '')),
    }),
    endpoint({
      id: 'tamper',
      method: 'POST',
      path: 'deliveries/{id}/tamper',
      summary: 'Posts a copy with another amount under the old signature: a receiver has to refuse it',
      answer: answers.delivery,
      refusals: [404],
      handle: ({ params }, { sandbox }: Subject) =>
        refuseUnknownDelivery(sandbox.events.tamper(params.id ?? '')),
    }),
    ...faultOperations(),
    endpoint({
      id: 'setRetry',
      method: 'POST',
      path: 'retry',
      summary: 'Sets how often an unacknowledged event is posted again',
      body: z
        .strictObject({
          policy: z.union([
            z.literal('none'),
            z.strictObject({
              maxAttempts: z.int().optional(),
              firstDelayMs: z.int().optional(),
              maxDelayMs: z.int().optional(),
            }),
          ]),
        })
        .meta({ examples: [{ policy: { maxAttempts: 3 } }] }),
      answer: answers.done,
      handle: ({ body }, { sandbox }: Subject) => {
        refuseInvalidOption(() => sandbox.events.retry(body.policy));
        return { done: true };
      },
    }),
    endpoint({
      id: 'advanceClock',
      method: 'POST',
      path: 'clock/advance',
      summary: 'Moves the time forward; all work due until then is done before the answer',
      body: z
        .strictObject({ ms: z.int().min(0).max(fourHundredDaysMs) })
        .meta({ examples: [{ ms: 60_000 }] }),
      answer: answers.clock,
      handle: async ({ body }, { sandbox }: Subject) => {
        await sandbox.clock.advance(body.ms);
        return clockOf(sandbox);
      },
    }),
    endpoint({
      id: 'drainClock',
      method: 'POST',
      path: 'clock/drain',
      summary: 'Moves the time forward until no work waits for it',
      answer: answers.clock,
      handle: async (_, { sandbox }: Subject) => {
        await sandbox.clock.drain();
        return clockOf(sandbox);
      },
    }),
    endpoint({
      id: 'reset',
      method: 'POST',
      path: 'reset',
      summary: 'Forgets everything, as if the sandbox were new',
      answer: answers.done,
      handle: async (_, { sandbox }: Subject) => {
        await sandbox.reset();
        return { done: true };
      },
    }),
  ];
}

/** @throws {Refusal} 404 */
function findOrder({ orders }: SandboxState, name: string): SandboxOrder {
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

function shownOrder({ options }: SandboxState, order: SandboxOrder) {
  return { ...order, next: stepsAfter(order.state, options.orderTransitions) };
}

function stateOf(sandbox: Sandbox<unknown>, state: SandboxState, origin: string) {
  const { seed, emails, messages, faults } = sandbox;
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
    clock: clockOf(sandbox),
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
      requestFaults: requestFaultNames,
      eventFaults: eventFaultNames,
      faultScenarios: faultScenarioNames,
      orderScenarios: orderScenarioNames,
    },
  };
}

function secretsOf({ partners, masterKey }: SandboxState): readonly string[] {
  const keys = partners.all.flatMap((partner) => [partner, ...(partner.earlier ?? [])]);
  return [masterKey, ...keys.flatMap(({ credentials }) => keysOf(credentials))];
}

function clockOf({ clock }: Sandbox<unknown>) {
  return { now: clock.now(), nextAt: clock.nextAt };
}

function paged<Item>(all: readonly Item[], { limit, offset }: { limit: number; offset: number }) {
  const end = Math.max(0, all.length - offset);
  return { total: all.length, items: all.slice(Math.max(0, end - limit), end).reverse() };
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

function isGenuine({ faults }: SandboxDelivery): boolean {
  return !faults.includes('forged') && !faults.includes('tampered');
}

function isOf(wanted: string | undefined, name: string): boolean {
  return wanted === undefined || wanted === name;
}

async function refuseConflict<Result>(result: Promise<Result>): Promise<Result> {
  return result.catch((error: unknown) => {
    throw isValidationError(error) ? new Refusal(409, 'not_possible', whatFailed(error)) : error;
  });
}

async function refuseUnknownDelivery<Result>(result: Promise<Result>): Promise<Result> {
  return result.catch((error: unknown) => {
    throw isValidationError(error) ? new Refusal(404, 'unknown_delivery', whatFailed(error)) : error;
  });
}
