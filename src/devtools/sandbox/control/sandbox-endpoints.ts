import * as z from 'zod';
import { allKeysOf } from '../../../credentials/define-credentials.ts';
import { redactReply } from '../../../internal/echoed-secrets.ts';
import { redactText } from '../../../internal/redaction.ts';
import type { Sandbox } from '../sandbox.ts';
import { orderScenarioNames } from '../service/order-scenarios.ts';
import { eventFaultNames } from '../settings/event-faults.ts';
import { faultTargets, type PlannedFault, requestFaultNames } from '../settings/faults.ts';
import type { SandboxState } from '../world/state.ts';
import type { Clock, State } from './answers.ts';
import { type ControlEndpoint, endpoint } from './control-endpoint.ts';
import { firstPartner, orderEndpoints } from './order-endpoints.ts';
import { partnerVariables } from './partner-variables.ts';
import { extentOf, trafficEndpoints } from './traffic-endpoints.ts';

/** The sandbox checks target and fault, and proposes the name that was meant. */
const faultBody = z
  .strictObject({
    target: z.string(),
    fault: z.union([z.string(), z.looseObject({ kind: z.string() })]),
    rate: z.number().min(0).max(1).optional(),
  })
  .meta({ examples: [{ target: 'createOrder', fault: 'reply_lost' }] });

const longestAdvanceMs = 36_500 * 24 * 60 * 60 * 1000;

const clockBody = z
  .union([
    z.strictObject({ advanceMs: z.int().min(0).max(longestAdvanceMs) }),
    z.strictObject({ drain: z.literal(true) }),
  ])
  .meta({ examples: [{ advanceMs: 60_000 }, { drain: true }] });

/** Every operation of the control API. */
export function sandboxEndpoints(sandbox: Sandbox<unknown>, state: SandboxState): readonly ControlEndpoint[] {
  const { faults, clock } = sandbox;
  const endpoints: readonly ControlEndpoint[] = [
    endpoint({
      method: 'GET',
      path: 'state',
      summary: 'Variables for a program, addresses, time, counts, faults, and the last mails and messages',
      handle: ({ origin }) => stateOf(sandbox, state, origin),
    }),
    ...trafficEndpoints(state),
    ...orderEndpoints(sandbox, state),
    endpoint({
      method: 'POST',
      path: 'faults',
      summary: 'Plans a fault for the next request or event, or at a rate',
      body: faultBody,
      handle: ({ body }) => {
        // Sound: `plan` refuses other targets and faults.
        const { target, fault, rate } = body as Extract<PlannedFault, { target: 'event' | 'request' }>;
        faults.plan(target, fault, { rate });
        return { done: true };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: 'faults',
      summary: 'Removes all faults',
      handle: () => {
        faults.clear();
        return { done: true };
      },
    }),
    endpoint({
      method: 'POST',
      path: 'clock',
      summary:
        'Moves the time forward, by some time or until no work waits, and does the work due until then',
      body: clockBody,
      handle: async ({ body }): Promise<Clock> => {
        await ('drain' in body ? clock.drain() : clock.advance(body.advanceMs));
        return clockOf(sandbox);
      },
    }),
    endpoint({
      method: 'POST',
      path: 'reset',
      summary: 'Forgets everything',
      handle: async () => {
        await sandbox.reset();
        return { done: true };
      },
    }),
  ];
  return endpoints.map((each) => ({
    ...each,
    handle: async (call) => hideGivenKeys(state, await each.handle(call)),
  }));
}

/**
 * Hides the keys that the caller gave to the sandbox, which may open the real service, in an answer of the control API.
 * Keys that the sandbox has drawn stay.
 */
function hideGivenKeys<Value>({ options, partners }: SandboxState, value: Value): Value {
  const generations = partners.all.flatMap((partner) => [partner, ...(partner.earlier ?? [])]);
  const given = generations
    .filter(({ isGiven }) => isGiven)
    .flatMap(({ credentials }) => allKeysOf(credentials));
  const keys = options.masterKey === undefined ? given : [...given, options.masterKey];
  if (keys.length === 0 || value instanceof Response) return value;
  // Sound: it changes texts alone.
  return redactReply(value, (text) => redactText(text, keys)) as Value;
}

/** The mails, and the messages, that the state holds. */
const maxListed = 50;

function stateOf(sandbox: Sandbox<unknown>, state: SandboxState, origin: string): State {
  const { seed, emails, messages, faults } = sandbox;
  const { deployment, masterKey, options, partners } = state;
  const at = (base: string | undefined) => origin + new URL(base ?? origin).pathname;
  const addresses = {
    onboardingBaseUrl: at(deployment.onboardingBaseUrl),
    stagingUrl: at(deployment.stagingUrl),
    messengerBaseUrl: at(deployment.messengerBaseUrl),
  };
  const partner = firstPartner(state);
  return {
    instance: state.instance,
    seed,
    variables: partnerVariables(addresses, {
      partner: partner?.isGiven ? undefined : partner?.credentials,
      masterKey: options.masterKey === undefined ? masterKey : undefined,
    }),
    deployment: { ...addresses, paths: deployment.paths, signature: deployment.signature },
    clock: clockOf(sandbox),
    trace: extentOf(state.trace.view),
    counts: {
      orders: state.orders.all.length,
      deliveries: state.deliveryQueue.deliveries.length,
      emails: emails.length,
      messages: messages.length,
    },
    whitelistedIps: [...state.whitelist],
    faults: faults.list(),
    emails: emails
      .slice(-maxListed)
      .reverse()
      .map((mail) => ({ ...mail, linkState: partners.linkState(mail.link) ?? 'used' })),
    messages: messages.slice(-maxListed).reverse(),
    known: {
      requestTargets: faultTargets.request,
      eventTargets: faultTargets.event,
      requestFaults: requestFaultNames,
      eventFaults: eventFaultNames,
      orderScenarios: orderScenarioNames,
    },
  };
}

function clockOf({ clock }: Sandbox<unknown>): Clock {
  return { now: clock.now(), nextAt: clock.nextAt };
}
