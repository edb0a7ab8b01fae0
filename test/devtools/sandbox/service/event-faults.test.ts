import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import type { Sandbox } from '../../../../src/devtools/sandbox/sandbox.ts';
import {
  type EventFaultName,
  eventFaults,
  forgeries,
} from '../../../../src/devtools/sandbox/settings/event-faults.ts';
import type { SandboxOptions } from '../../../../src/devtools/sandbox/settings/sandbox-options.ts';
import { createWebhooks, type Webhooks } from '../../../../src/webhooks/create-webhooks.ts';
import { onboarded, order, place, regenerate } from '../support.ts';
import { reshapingFaults } from './reshaping-faults.ts';

const init = 'event.buy.init';
const fiat = 'event.buy.received.fiat';
const credited = 'event.buy.credited.crypto';

/** A sandbox whose events go to the receiver that is attached. */
function connect(options: SandboxOptions = {}) {
  let webhooks: Webhooks | undefined;
  const sandbox = createSandbox({
    ...options,
    fetch: async (input, init) =>
      (await webhooks?.fetch(new Request(input, init))) ?? new Response(null, { status: 404 }),
  });
  const attach = (given: Webhooks) => {
    webhooks = given;
  };
  return { sandbox, attach };
}

/** What is handled, in this order, and what the receiver answers to the event that has the fault. */
const cases: [EventFaultName, { handled: string[]; answers: number[] }][] = [
  ['duplicate', { handled: [init, fiat, credited], answers: [200, 200] }],
  // The second one is told to come back while the first is being handled.
  ['concurrent_duplicate', { handled: [init, fiat, credited], answers: [200, 503] }],
  ['reorder', { handled: [init, credited, fiat], answers: [200] }],
  ['delay', { handled: [init, credited, fiat], answers: [200] }],
  ['drop', { handled: [init, credited], answers: [] }],
  ['before_reply', { handled: [init, fiat, credited], answers: [200] }],
  ['forged', { handled: [init, fiat, credited], answers: [401, 200] }],
  ['tampered', { handled: [init, fiat, credited], answers: [401, 200] }],
  ['unfamiliar_name', { handled: [init, 'event.buy.error', fiat, credited], answers: [200, 200] }],
  ['extra_members', { handled: [init, fiat, credited], answers: [200] }],
  ['awkward_spelling', { handled: [init, fiat, credited], answers: [200] }],
  ['credits_elsewhere', { handled: [init, fiat, credited], answers: [200] }],
  ['other_chain', { handled: [init, fiat, credited], answers: [200] }],
  ['other_currency', { handled: [init, fiat, credited], answers: [200] }],
  ['amount_differs', { handled: [init, fiat, credited], answers: [200] }],
];

/** A receiver that handles slowly enough for a second delivery to come meanwhile. */
function receiver(
  credentials: Parameters<typeof createWebhooks>[0]['credentials'],
  deployment: Sandbox['deployment'],
): { webhooks: Webhooks; handled: string[] } {
  const handled: string[] = [];
  const handle = async (name: string) => {
    // real time: the second delivery is answered before this one is handled.
    await new Promise((resolve) => setTimeout(resolve, 5));
    handled.push(name);
  };
  const webhooks = createWebhooks({ credentials, deployment, onRefused: () => {} })
    .onAny((event) => handle(event.event_name))
    .onUnrecognized((event) => handle(event.kind === 'unknown' ? (event.name ?? '') : event.kind));
  return { webhooks, handled };
}

describe('a receiver', () => {
  it.each(cases)('under %s handles each event once', async (fault, expected) => {
    const { sandbox, attach } = connect({ clock: 'manual', eventSpelling: 'compact' });
    const credentials = await onboarded(sandbox);
    const { webhooks, handled } = receiver(credentials, sandbox.deployment);
    attach(webhooks);
    const target = fault === 'before_reply' ? init : fiat;
    sandbox.faults.plan(target, fault);
    await place(sandbox, credentials, order);
    await sandbox.idle();
    await sandbox.advance('A-1', 'fiat_received');
    await sandbox.advance('A-1', 'credited');
    await sandbox.idle();
    await sandbox.clock.drain();
    expect(handled).toEqual(expected.handled);
    const answers = sandbox.trace.entries.filter(
      ({ kind, event, faults }) => kind === 'event_reply' && (faults.length > 0 || event === target),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...expected.answers].sort());
    expect(sandbox.trace.entries.filter(({ kind }) => kind === 'fault')).toMatchObject([{ faults: [fault] }]);
  });

  it('that holds both generations of keys takes events signed with the old one', async () => {
    const { sandbox, attach } = connect();
    const old = await onboarded(sandbox);
    await regenerate(sandbox, old);
    const fresh = sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
    const both = receiver([fresh, old], sandbox.deployment);
    attach(both.webhooks);
    sandbox.faults.plan('event', 'old_key', { rate: 1 });
    await place(sandbox, fresh, order);
    await sandbox.idle();
    expect(both.handled).toEqual([init]);
    const onlyFresh = receiver(fresh, sandbox.deployment);
    attach(onlyFresh.webhooks);
    expect(await sandbox.advance('A-1', 'fiat_received')).toMatchObject({ status: 401, faults: ['old_key'] });
    expect(onlyFresh.handled).toEqual([]);
  });
});

it('before_reply: the event is answered before the reply leaves', async () => {
  const sandbox = createSandbox({ fetch: async () => new Response() });
  const credentials = await onboarded(sandbox);
  sandbox.faults.plan('event', 'before_reply');
  await place(sandbox, credentials);
  const kinds = sandbox.trace.entries.filter(({ order: about }) => about === 'A-1').map(({ kind }) => kind);
  expect(kinds).toEqual(['request', 'fault', 'event', 'event_reply', 'reply']);
});

it('a reordered event without a next one goes out when nothing else is outstanding', async () => {
  const sandbox = createSandbox({ fetch: async () => new Response() });
  const credentials = await onboarded(sandbox);
  sandbox.faults.plan('event', 'reorder');
  await place(sandbox, credentials);
  expect(sandbox.deliveries).toMatchObject([{ attempts: 0 }]);
  await sandbox.idle();
  expect(sandbox.deliveries).toMatchObject([{ attempts: 1, acknowledged: true }]);
});

it('every fault of an event is tried above', () => {
  const tried = [...cases.map(([fault]) => fault), 'old_key', ...reshapingFaults];
  expect(Object.keys(eventFaults).sort()).toEqual(tried.sort());
});

it('a receiver refuses the copies under those faults that the table calls forgeries', () => {
  const refused = cases.filter(([, { answers }]) => answers.includes(401)).map(([fault]) => fault);
  expect(forgeries).toEqual(refused);
});
