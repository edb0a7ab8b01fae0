import { describe, expect, it } from 'vitest';
import { signingKey } from '../../../../src/credentials/signing-key.ts';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import type { OrderScenario } from '../../../../src/devtools/sandbox/service/order-scenarios.ts';
import type { SandboxOptions } from '../../../../src/devtools/sandbox/settings/sandbox-options.ts';
import { isValidationError } from '../../../../src/errors/errors.ts';
import { verifyBody } from '../../../../src/signature/verify-body.ts';
import { refusal } from '../../../support/refusal.ts';
import { callback, onboarded, place } from '../support.ts';

/** The events after the init event, in the order in which they are posted, and the order's end. */
const courses: [OrderScenario, events: string[], state: string][] = [
  ['happy', ['received.fiat', 'credited.crypto'], 'credited'],
  ['kyc_then_refund', ['received.fiat_kyc_error', 'close'], 'refunded'],
  ['refunded_then_credited', ['received.fiat', 'close', 'credited.crypto'], 'credited'],
  ['events_reversed', ['credited.crypto', 'received.fiat'], 'credited'],
  ['events_repeated', ['received.fiat', 'credited.crypto', 'received.fiat', 'credited.crypto'], 'credited'],
  ['events_lost', [], 'credited'],
];

async function start(options: SandboxOptions = {}) {
  const partnerSide = callback();
  const sandbox = createSandbox({ fetch: partnerSide.fetch, ...options });
  const credentials = await onboarded(sandbox);
  await place(sandbox, credentials);
  await sandbox.idle();
  const names = () =>
    partnerSide.received.map(({ text }) =>
      String(JSON.parse(text).event_name).replace(/^(buy\.)?event\.(buy\.)?/, ''),
    );
  return { sandbox, credentials, received: partnerSide.received, names };
}

describe('play', () => {
  it.each(courses)('%s', async (scenario, events, state) => {
    const { sandbox, names } = await start();
    const deliveries = await sandbox.play('A-1', scenario);
    expect(names()).toEqual(['init', ...events]);
    expect(sandbox.order('A-1').state).toBe(state);
    expect(deliveries.every(({ acknowledged }) => acknowledged)).toBe(true);
  });

  it('refuses what is unknown, and an order that has gone on', async () => {
    const { sandbox } = await start();
    await expect(sandbox.play('A-9', 'happy')).rejects.toSatisfy(isValidationError);
    // @ts-expect-error: wrong on purpose
    await expect(sandbox.play('A-1', 'toString')).rejects.toThrow('must be one of happy, ');
    await sandbox.advance('A-1', 'fiat_received');
    await expect(sandbox.play('A-1', 'happy')).rejects.toThrow('already');
    expect(sandbox.order('A-1').state).toBe('fiat_received');
  });
});

describe('an attack on a receiver', () => {
  it.each([
    ['an order id that is a number', { event_name: 'event.buy.init', partner_order_id: 7 }],
    ['a value that begins with an escape', { partner_order_id: '"7"', kind: 'created' }],
  ])('tampered is refused where an event has %s', async (_, event) => {
    const { sandbox, credentials, received } = await start({ event: () => event });
    const { id = '' } = sandbox.deliveries[0] ?? {};
    await sandbox.redeliver(id, 'tampered');
    const [genuine, tampered] = received.map(({ text }) => text);
    const key = signingKey(credentials, 'order');
    expect(refusal(() => verifyBody(tampered ?? '', { key }))).toBe('SignatureError signature_mismatch');
    expect(verifyBody(genuine ?? '', { key }).value).toMatchObject(event);
  });

  it('refuses an event that there is not', async () => {
    for (const as of ['again', 'forged', 'tampered'] as const)
      await expect(createSandbox().redeliver('delivery-1', as)).rejects.toSatisfy(isValidationError);
  });
});
