import * as z from 'zod';
import type { Sandbox } from '../sandbox.ts';
import { orderScenarioNames } from '../service/order-scenarios.ts';
import { faultForms } from '../settings/check-fault.ts';
import { eventFaultNames, eventFaults } from '../settings/event-faults.ts';
import { faultTargets, requestFaultNames } from '../settings/faults.ts';
import type { SandboxState } from '../world/state.ts';
import { type ControlEndpoint, endpoint } from './control-endpoint.ts';
import { examineSignature, explainSignature } from './examine-signature.ts';
import { faultOperations, refuseInvalidOption } from './fault-endpoints.ts';
import { hideGivenKeys } from './given-keys.ts';
import { orderOperations, type Subject } from './order-endpoints.ts';
import { refusalAdvice } from './refusal-advice.ts';
import * as schemas from './schemas.ts';
import { matchesWords, paged } from './search-traffic.ts';
import { sendEdited } from './send-edited.ts';
import { extentOf, trafficEndpoints } from './traffic-endpoints.ts';

export const longestAdvanceMs = 36_500 * 24 * 60 * 60 * 1000;

export function sandboxEndpoints(sandbox: Sandbox<unknown>, state: SandboxState): readonly ControlEndpoint[] {
  const subject = { sandbox, state };
  const endpoints: readonly ControlEndpoint[] = [
    ...trafficEndpoints({
      trace: sandbox.trace,
      hide: (entry) => hideGivenKeys(state, entry),
      examine: (entry) => examineSignature(state, entry),
      advise: refusalAdvice,
      explain: (entry) => explainSignature(state, entry),
      send: {
        summary: 'Sends an edited copy of an event or a request',
        body: schemas.sandboxCopySchema,
        refusals: [404, 409],
        post: (entry, edit) => sendEdited(sandbox, state, { entry, edit }),
      },
    }),
    ...sandboxOperations().map((each) => ({
      ...each,
      handle: (call: Parameters<ControlEndpoint['handle']>[0]) => each.handle(call, subject),
    })),
  ];
  return endpoints.map((each) => ({
    ...each,
    handle: async (call) => hideGivenKeys(state, await each.handle(call)),
  }));
}

/** The operations of a sandbox, apart from those on its traffic. */
export function sandboxOperations() {
  return [
    endpoint({
      id: 'getState',
      method: 'GET',
      path: 'state',
      summary: 'Seed, addresses, time, counts, faults, and the names for requests',
      answer: schemas.stateSchema,
      handle: ({ origin }, { sandbox, state }: Subject) => stateOf(sandbox, state, origin),
    }),
    endpoint({
      id: 'listEmails',
      method: 'GET',
      path: 'emails',
      summary: 'Mails with their one-time links',
      query: z.strictObject(schemas.pageQuery),
      answer: schemas.listOf(schemas.emailSchema),
      handle: ({ query }, { sandbox, state }: Subject) => {
        const { total, items } = paged(sandbox.emails, query);
        return {
          total,
          items: items.map((mail) => ({ ...mail, linkState: state.partners.linkState(mail.link) })),
        };
      },
    }),
    ...orderOperations(),
    endpoint({
      id: 'listMessages',
      method: 'GET',
      path: 'messages',
      summary: 'Messages of the messenger',
      query: z.strictObject({ ...schemas.pageQuery, search: schemas.searchQuery }),
      answer: schemas.listOf(schemas.messageSchema),
      handle: ({ query }, { sandbox }: Subject) =>
        paged(
          sandbox.messages.filter(({ to_phone, message, messenger_device_no }) =>
            matchesWords(query.search, [to_phone, message, messenger_device_no]),
          ),
          query,
        ),
    }),
    ...faultOperations(),
    endpoint({
      id: 'setRetry',
      method: 'POST',
      path: 'retry',
      summary: 'Sets how often an unacknowledged event is posted again',
      body: z
        .strictObject({
          policy: schemas.retryPolicySchema,
        })
        .meta({ examples: [{ policy: { maxAttempts: 3 } }] }),
      answer: schemas.doneSchema,
      handle: ({ body }, { sandbox }: Subject) => {
        refuseInvalidOption(() => sandbox.events.retry(body.policy));
        return { done: true };
      },
    }),
    endpoint({
      id: 'advanceClock',
      method: 'POST',
      path: 'clock/advance',
      summary: 'Moves the time forward, and does all work due until then',
      body: z.strictObject({ ms: z.int().min(0).max(longestAdvanceMs) }).meta({ examples: [{ ms: 60_000 }] }),
      answer: schemas.clockSchema,
      handle: async ({ body }, { sandbox }: Subject) => {
        await sandbox.clock.advance(body.ms);
        return clockOf(sandbox);
      },
    }),
    endpoint({
      id: 'drainClock',
      method: 'POST',
      path: 'clock/drain',
      summary: 'Moves the time forward until no work waits',
      answer: schemas.clockSchema,
      handle: async (_, { sandbox }: Subject) => {
        await sandbox.clock.drain();
        return clockOf(sandbox);
      },
    }),
    endpoint({
      id: 'reset',
      method: 'POST',
      path: 'reset',
      summary: 'Forgets everything',
      answer: schemas.doneSchema,
      handle: async (_, { sandbox }: Subject) => {
        await sandbox.reset();
        return { done: true };
      },
    }),
  ];
}

function stateOf(sandbox: Sandbox<unknown>, state: SandboxState, origin: string) {
  const { seed, emails, messages, faults } = sandbox;
  const { deployment } = state;
  const at = (base: string | undefined) => origin + new URL(base ?? origin).pathname;
  return {
    instance: state.instance,
    seed,
    masterKey: state.options.masterKey === undefined ? state.masterKey : undefined,
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
    faults: [...faults.list()],
    known: {
      requestTargets: faultTargets.request,
      eventTargets: faultTargets.event,
      requestFaults: requestFaultNames,
      eventFaults: eventFaultNames,
      faultForms,
      memberFaults: eventFaultNames.filter((name) => 'member' in eventFaults[name].details),
      orderScenarios: orderScenarioNames,
    },
  };
}

function clockOf({ clock }: Sandbox<unknown>) {
  return { now: clock.now(), nextAt: clock.nextAt };
}
