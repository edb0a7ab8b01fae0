import * as z from 'zod';
import { isConfigurationError, isValidationError } from '../../errors/errors.ts';
import type { RequestFaultName, RequestFaultTarget } from '../faults/faults.ts';
import { type FaultScenario, faultScenarios } from '../faults/faults.ts';
import { type OrderScenario, orderScenarios } from '../orders/order-scenarios.ts';
import { Refusal } from '../requests.ts';
import { type Endpoint, endpoint } from './endpoint.ts';
import { findOrder, shownOrder } from './read-endpoints.ts';
import * as answers from './schemas.ts';

const fourHundredDaysMs = 400 * 24 * 60 * 60 * 1000;

/** What changes the sandbox: needs the token. */
export const changeEndpoints: readonly Endpoint[] = [
  endpoint({
    id: 'advanceOrder',
    method: 'POST',
    path: 'orders/{order}/advance',
    summary: 'Moves an order one step on and posts its event; answers when the partner has answered',
    body: z.strictObject({
      step: z.enum([
        'fiat_received',
        'no_kyc',
        'third_party_payment',
        'third_party_error',
        'credited',
        'refunded',
      ]),
    }),
    answer: z.object({ order: answers.order, delivery: answers.delivery }),
    refusals: [404, 409],
    handle: async ({ sandbox, state, params, body }) => {
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
    body: z.strictObject({ scenario: z.enum(namesOf<OrderScenario>(orderScenarios)) }),
    answer: z.object({ order: answers.order, deliveries: z.array(answers.delivery) }),
    refusals: [404, 409],
    handle: async ({ sandbox, state, params, body }) => {
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
    handle: ({ sandbox, params }) => refuseUnknownDelivery(sandbox.redeliver(params.id ?? '')),
  }),
  endpoint({
    id: 'forge',
    method: 'POST',
    path: 'deliveries/{id}/forge',
    summary: 'Posts a copy signed with a key that nobody issued: a receiver has to refuse it',
    answer: answers.delivery,
    refusals: [404],
    handle: ({ sandbox, params }) => refuseUnknownDelivery(sandbox.events.forge(params.id ?? '')),
  }),
  endpoint({
    id: 'tamper',
    method: 'POST',
    path: 'deliveries/{id}/tamper',
    summary: 'Posts a copy with another amount under the old signature: a receiver has to refuse it',
    answer: answers.delivery,
    refusals: [404],
    handle: ({ sandbox, params }) => refuseUnknownDelivery(sandbox.events.tamper(params.id ?? '')),
  }),
  endpoint({
    id: 'planFault',
    method: 'POST',
    path: 'faults/next',
    summary: 'Plans a fault for the next request of an operation, or the next event of a name',
    body: z.strictObject({ target: z.string(), fault: answers.fault }),
    answer: answers.faults,
    handle: ({ sandbox, body }) => {
      // Sound: the sandbox refuses what is no target, or no fault of this target.
      const [target, fault] = [body.target as RequestFaultTarget, body.fault as RequestFaultName];
      refuseInvalidOption(() => sandbox.faults.next(target, fault));
      return sandbox.faults.current;
    },
  }),
  endpoint({
    id: 'setFaultRates',
    method: 'POST',
    path: 'faults/rates',
    summary: 'Sets how often faults happen: everywhere, or at one target',
    body: z.strictObject({ target: z.string().optional(), rates: answers.rates }),
    answer: answers.faults,
    handle: ({ sandbox, body: { target, rates } }) => {
      refuseInvalidOption(() => {
        if (target === undefined) sandbox.faults.rate(rates);
        // Sound: the sandbox refuses what is no target, or no rates of this target.
        else sandbox.faults.rate(target as RequestFaultTarget, rates);
      });
      return sandbox.faults.current;
    },
  }),
  endpoint({
    id: 'setFaultScenario',
    method: 'POST',
    path: 'faults/scenario',
    summary: 'Sets the rates of a named scenario, in place of all before',
    body: z.strictObject({ name: z.enum(namesOf<FaultScenario>(faultScenarios)) }),
    answer: answers.faults,
    handle: ({ sandbox, body }) => {
      sandbox.faults.scenario(body.name);
      return sandbox.faults.current;
    },
  }),
  endpoint({
    id: 'clearFaults',
    method: 'POST',
    path: 'faults/clear',
    summary: 'Removes every rate and every planned fault',
    answer: answers.faults,
    handle: ({ sandbox }) => {
      sandbox.faults.clear();
      return sandbox.faults.current;
    },
  }),
  endpoint({
    id: 'setRetry',
    method: 'POST',
    path: 'retry',
    summary: 'How often an event that is not acknowledged is posted again from now on',
    body: z.strictObject({
      policy: z.union([
        z.literal('none'),
        z.strictObject({
          maxAttempts: z.int().optional(),
          firstDelayMs: z.int().optional(),
          maxDelayMs: z.int().optional(),
        }),
      ]),
    }),
    answer: answers.done,
    handle: ({ sandbox, body }) => {
      refuseInvalidOption(() => sandbox.events.retry(body.policy));
      return { done: true };
    },
  }),
  endpoint({
    id: 'advanceClock',
    method: 'POST',
    path: 'clock/advance',
    summary: 'Moves the time on; what becomes due on the way happens before the answer',
    body: z.strictObject({ ms: z.int().min(0).max(fourHundredDaysMs) }),
    answer: answers.clock,
    handle: async ({ sandbox: { clock }, body }) => {
      await clock.advance(body.ms);
      return { now: clock.now(), nextAt: clock.nextAt };
    },
  }),
  endpoint({
    id: 'drainClock',
    method: 'POST',
    path: 'clock/drain',
    summary: 'Moves the time on until nothing waits for it',
    answer: answers.clock,
    handle: async ({ sandbox: { clock } }) => {
      await clock.drain();
      return { now: clock.now(), nextAt: clock.nextAt };
    },
  }),
  endpoint({
    id: 'reset',
    method: 'POST',
    path: 'reset',
    summary: 'Forgets everything, as if the sandbox had just been made',
    answer: answers.done,
    handle: async ({ sandbox }) => {
      await sandbox.reset();
      return { done: true };
    },
  }),
];

function namesOf<Name extends string>(table: Readonly<Record<Name, unknown>>): [Name, ...Name[]] {
  // Sound: the keys of a table that is not empty.
  return Object.keys(table) as [Name, ...Name[]];
}

/** An order that cannot do what is asked. */
async function refuseConflict<Result>(result: Promise<Result>): Promise<Result> {
  return result.catch((error: unknown) => {
    throw isValidationError(error) ? new Refusal(409, 'not_possible', error.message) : error;
  });
}

async function refuseUnknownDelivery<Result>(result: Promise<Result>): Promise<Result> {
  return result.catch((error: unknown) => {
    throw isValidationError(error) ? new Refusal(404, 'unknown_delivery', error.message) : error;
  });
}

/** What the sandbox itself refuses among the options of a request. */
function refuseInvalidOption(apply: () => void): void {
  try {
    apply();
  } catch (error) {
    throw isConfigurationError(error) ? new Refusal(400, 'invalid_body', error.message) : error;
  }
}
