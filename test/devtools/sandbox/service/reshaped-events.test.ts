import { describe, expect, it } from 'vitest';
import { signingKey } from '../../../../src/credentials/signing-key.ts';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import type { EventFault } from '../../../../src/devtools/sandbox/settings/faults.ts';
import type { SandboxCredentials } from '../../../../src/devtools/sandbox/settings/fixed-partners.ts';
import type { SandboxOptions } from '../../../../src/devtools/sandbox/settings/sandbox-options.ts';
import { memberPaths } from '../../../../src/devtools/sandbox/wire/member-changes.ts';
import type { SandboxDelivery } from '../../../../src/devtools/sandbox/world/delivery.ts';
import type { JsonObject } from '../../../../src/internal/json.ts';
import { verifyBody } from '../../../../src/signature/verify-body.ts';
import { callback, onboarded, order, place } from '../support.ts';
import { reshapingFaults } from './reshaping-faults.ts';

const fiat = 'event.buy.received.fiat';

/** The deliveries of a received payment under a fault, the genuine event last. */
async function deliveriesUnder(fault: EventFault | undefined, options: SandboxOptions = {}) {
  const sandbox = createSandbox({ fetch: callback().fetch, seed: 7, eventSpelling: 'compact', ...options });
  const credentials = await onboarded(sandbox);
  await place(sandbox, credentials, order);
  await sandbox.idle();
  if (fault !== undefined) sandbox.faults.plan(fiat, fault);
  await sandbox.advance('A-1', 'fiat_received');
  await sandbox.idle();
  return { sandbox, credentials, deliveries: sandbox.deliveries.slice(1) };
}

async function bodyUnder(fault: EventFault | undefined, options: SandboxOptions = {}): Promise<JsonObject> {
  const { deliveries } = await deliveriesUnder(fault, options);
  return bodyOf(deliveries.at(-1));
}

function bodyOf(delivery: SandboxDelivery | undefined): JsonObject {
  // Sound: the sandbox wrote an object.
  const { signature: _, ...body } = JSON.parse(delivery?.body ?? '{}') as JsonObject;
  return body;
}

function isAuthentic(
  { body }: SandboxDelivery,
  credentials: SandboxCredentials,
  scheme = createSandbox().deployment.signature,
): boolean {
  const key = signingKey(credentials, 'order', { scheme });
  return verifyBody(Buffer.from(body), { key, scheme }).keyIndex === 0;
}

describe('an event whose form a fault changes', () => {
  it.each(reshapingFaults)('is signed as the service signs, under %s', async (kind) => {
    for (const serialization of ['as-sent', 'sorted'] as const) {
      const signature = { construction: 'hmac', serialization, encoding: 'hex' } as const;
      const { deliveries, credentials } = await deliveriesUnder({ kind }, { deployment: { signature } });
      expect(deliveries.length).toBe(kind === 'sell_side' ? 2 : 1);
      for (const delivery of deliveries) expect(isAuthentic(delivery, credentials, signature)).toBe(true);
    }
  });

  const genuine = { exchange_rate: 1500, pair: 'NGN/USDT', fiat_payment_status: 'PAID' };
  it.each([
    [{ kind: 'member_missing', member: 'exchange_rate' }, { exchange_rate: undefined }],
    [{ kind: 'member_null', member: 'exchange_rate' }, { exchange_rate: null }],
    [
      { kind: 'member_renamed', member: 'exchange_rate' },
      { exchange_rate: undefined, exchangeRate: 1500 },
    ],
    [{ kind: 'member_nested', member: 'pair' }, { pair: { value: 'NGN/USDT' } }],
    [{ kind: 'member_long', member: 'pair' }, { pair: 'NGN/USDT'.repeat(2_500) }],
    [{ kind: 'status_respelled', member: 'fiat_payment_status' }, { fiat_payment_status: 'paid' }],
  ] as const)('has %j in place of the documented member, and all others', async (fault, changed) => {
    const before = await bodyUnder(undefined);
    expect(before).toMatchObject(genuine);
    const expected = Object.fromEntries(
      Object.entries({ ...before, ...changed }).filter(([, value]) => value !== undefined),
    );
    expect(await bodyUnder(fault)).toEqual(expected);
  });

  it('has a member within another one changed too', async () => {
    const { payer_into_account } = await bodyUnder({
      kind: 'member_missing',
      member: 'payer_into_account.bank_name',
    });
    expect(Object.keys(payer_into_account ?? {})).toEqual(['account_name', 'account_number']);
  });

  it('has a member of another JSON type under member_type', async () => {
    const before = await bodyUnder(undefined);
    for (const member of memberPaths(before)) {
      const after = await bodyUnder({ kind: 'member_type', member });
      expect(after, member).not.toEqual(before);
    }
  });

  it('has a member twice in its text, with two values, also within another one', async () => {
    for (const member of ['exchange_rate', 'payer_into_account.bank_name']) {
      const { deliveries } = await deliveriesUnder({ kind: 'member_repeated', member });
      const name = member.split('.').at(-1) ?? '';
      expect(deliveries.at(-1)?.body.match(new RegExp(`"${name}"\\s*:`, 'g'))).toHaveLength(2);
    }
  });

  it('has its name with blanks, in capitals or with underscores, by the seed', async () => {
    const names = new Set<unknown>();
    for (let seed = 1; seed <= 20; seed++) {
      names.add((await bodyUnder({ kind: 'name_respelled' }, { seed })).event_name);
    }
    expect([...names].sort()).toEqual([
      'EVENT.BUY.RECEIVED.FIAT',
      'event buy received fiat',
      'event_buy_received_fiat',
    ]);
  });

  it('changes any member, drawn by the seed, and the same one in a replay', async () => {
    const changedUnder = async (seed: number) =>
      JSON.stringify(await bodyUnder({ kind: 'member_missing' }, { seed }));
    const bodies = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(changedUnder));
    expect(new Set(bodies).size).toBeGreaterThan(5);
    expect(await changedUnder(3)).toBe(bodies[2]);
  });
});
