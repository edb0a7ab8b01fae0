import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import type { Sandbox } from '../../../../src/devtools/sandbox/sandbox.ts';
import { isConfigurationError } from '../../../../src/errors/errors.ts';
import { memoryStore } from '../../../../src/store/memory-store.ts';
import type { RecordStore } from '../../../../src/store/record-store.ts';
import { nextTurn } from '../../../support/next-turn.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { callback, onboarded, order, partner, place, post, refusal, regenerate, reply } from '../support.ts';

const places: [string, () => RecordStore | string][] = [
  ['a record store', () => memoryStore()],
  ['a file', () => join(scratchFolder(), 'sandbox.sqlite')],
];

/** An API key whose device is connected. */
async function device(sandbox: Sandbox): Promise<string> {
  const body = { messenger_device_no: '1' };
  const generated = post(sandbox, 'generateApiKey', body, { authorization: sandbox.masterKey });
  const api_key = String((await reply(generated)).body.api_key);
  const { messengerBaseUrl, paths } = sandbox.deployment;
  await sandbox.fetch(`${messengerBaseUrl}${paths.scanDevice}?api_key=${api_key}`);
  return api_key;
}

describe.each(places)('in %s', (_, makePlace) => {
  it('everything lasts: partners, keys, links, mails, IPs, orders, devices, messages, the master key', async () => {
    const data = makePlace();
    const options = { data, seed: 3, fetch: callback().fetch };
    const before = createSandbox(options);
    const credentials = await onboarded(before);
    await place(before, credentials);
    await before.advance('A-1', 'fiat_received');
    const api_key = await device(before);
    const message = { api_key, message: 'code', to_phone: '123' };
    await post(before, 'sendMessage', message);
    await regenerate(before, credentials);
    await before.close();

    const after = createSandbox(options);
    expect(after.orders).toEqual([]);
    await after.ready();
    expect(after.masterKey).toBe(before.masterKey);
    expect(after.orders).toEqual(before.orders);
    expect(after.emails).toEqual(before.emails);
    expect(after.messages).toEqual(JSON.parse(JSON.stringify(before.messages)));
    expect(after.whitelistedIps).toEqual(before.whitelistedIps);
    // The old keys still work, an order id is still taken, and new references are not the old ones again.
    expect(await refusal(place(after, credentials))).toEqual([409, 'order_exists']);
    expect((await place(after, credentials, { ...order, partner_order_id: 'A-2' })).status).toBe(200);
    expect(new Set(after.orders.map((one) => one.platform_order_ref)).size).toBe(2);
    await after.advance('A-1', 'credited');
    expect((await post(after, 'sendMessage', message)).status).toBe(200);
    expect(after.messages).toHaveLength(2);
    // The link of the regeneration works, and the one of the onboarding is used up.
    expect(() => after.openLink(after.emails[0]?.link ?? '')).toThrow('used');
    const fresh = after.openLink(after.emails[1]?.link ?? '');
    expect(fresh.partnerId).toBe(credentials.partnerId);
    expect(fresh.partnerPublicKey).not.toBe(credentials.partnerPublicKey);
    await after.close();

    const third = createSandbox(options);
    const next = { ...order, partner_order_id: 'A-3' };
    expect(await refusal(place(third, credentials, next))).toEqual([401, 'unknown_public_key']);
    expect((await place(third, fresh, next)).status).toBe(200);
    expect(third.orders.map(({ partner_order_id, state }) => [partner_order_id, state])).toEqual([
      ['A-1', 'credited'],
      ['A-2', 'created'],
      ['A-3', 'created'],
    ]);
    await third.close();
  });

  it('a regeneration that waits for its link is remembered, also where the old keys are dead already', async () => {
    const data = makePlace();
    const before = createSandbox({ data, oldKeysExpire: 'request' });
    const old = await onboarded(before);
    await regenerate(before, old);
    await before.close();
    const after = createSandbox({ data, oldKeysExpire: 'request' });
    await after.ready();
    expect(await refusal(regenerate(after, old))).toEqual([401, 'unknown_public_key']);
    const fresh = after.openLink(after.emails.at(-1)?.link ?? '');
    expect((await regenerate(after, fresh)).status).toBe(200);
    await after.close();
  });

  it('more than one page of records comes back in its order', async () => {
    const data = makePlace();
    const before = createSandbox({ data, fetch: callback().fetch });
    const credentials = await onboarded(before);
    const ids = Array.from({ length: 1100 }, (_id, index) => `A-${index}`);
    await Promise.all(
      ids.map((partner_order_id) => place(before, credentials, { ...order, partner_order_id })),
    );
    await before.close();
    const after = createSandbox({ data });
    await after.ready();
    expect(after.orders).toEqual(before.orders);
    await after.close();
  });
});

describe('a store', () => {
  it('has what a reply says before the reply is there', async () => {
    const store = memoryStore();
    const sandbox = createSandbox({ data: store, fetch: callback().fetch });
    const credentials = await onboarded(sandbox);
    await place(sandbox, credentials);
    expect(await store.list({ prefix: 'sandbox/order/', limit: 10 })).toHaveLength(1);
  });

  it('has an order and each of its steps before their event is posted, and the reply has left by then', async () => {
    const store = memoryStore();
    const slow: RecordStore = {
      ...store,
      transact: async (keys, change) => {
        await nextTurn();
        return store.transact(keys, change);
      },
    };
    const stored: string[] = [];
    const sandbox = createSandbox({
      data: slow,
      fetch: async (_url, init) => {
        const records = await store.list({ prefix: 'sandbox/order/', limit: 10 });
        const { event_name, partner_order_id } = JSON.parse(String(init?.body));
        // Sound: the sandbox wrote these records.
        const orders = records.map(({ value }) => value as { partner_order_id: string; state: string });
        const found = orders.find((one) => one.partner_order_id === partner_order_id);
        stored.push(`${event_name} ${found?.state}`);
        return new Response();
      },
    });
    const credentials = await onboarded(sandbox);
    sandbox.trace.clear();
    await place(sandbox, credentials);
    await sandbox.idle();
    expect(sandbox.trace.entries.map(({ kind }) => kind)).toEqual([
      'request',
      'reply',
      'event',
      'event_reply',
    ]);
    await sandbox.advance('A-1', 'fiat_received');
    sandbox.faults.next('event', 'before_reply');
    await place(sandbox, credentials, { ...order, partner_order_id: 'A-2' });
    expect(stored).toEqual([
      'event.buy.init created',
      'event.buy.received.fiat fiat_received',
      'event.buy.init created',
    ]);
  });

  it('has an order before its event is posted, also where that is delayed for less than writing takes', async () => {
    const store = memoryStore();
    let isStored = false;
    const slow: RecordStore = {
      ...store,
      transact: async (keys, change) => {
        // real time: longer than the event is delayed.
        await new Promise((resolve) => setTimeout(resolve, 20));
        const result = await store.transact(keys, change);
        isStored ||= keys.some((key) => key.startsWith('sandbox/order/'));
        return result;
      },
    };
    const posted = Promise.withResolvers<boolean>();
    const sandbox = createSandbox({
      data: slow,
      fetch: async () => {
        posted.resolve(isStored);
        return new Response();
      },
    });
    const credentials = await onboarded(sandbox);
    sandbox.faults.next('event', { kind: 'delay', delayMs: 1 });
    await place(sandbox, credentials);
    expect(await posted.promise).toBe(true);
  });

  it('that is given stays open, and may hold other things', async () => {
    const store = memoryStore();
    await store.transact(['other'], (records) => records.set('other', 1));
    const sandbox = createSandbox({ data: store });
    await post(sandbox, 'onboard', partner);
    await sandbox.close();
    expect(await store.list({ prefix: 'other', limit: 10 })).toHaveLength(1);
  });

  it('forgets mails with the sandbox', async () => {
    const store = memoryStore();
    const sandbox = createSandbox({ data: store, maxRemembered: 3 });
    for (let index = 0; index < 5; index++) {
      await post(sandbox, 'onboard', { ...partner, partner_code: `p${index}` });
    }
    expect(await store.list({ prefix: 'sandbox/mail/', limit: 10 })).toHaveLength(3);
    expect(sandbox.emails.map(({ partner_code }) => partner_code)).toEqual(['p2', 'p3', 'p4']);
  });

  it('that fails turns the reply into a 500, and what it missed is written the next time', async () => {
    const store = memoryStore();
    let isBroken = false;
    const broken: RecordStore = {
      ...store,
      transact: (keys, change) =>
        isBroken ? Promise.reject(new Error('disk full')) : store.transact(keys, change),
    };
    const sandbox = createSandbox({ data: broken });
    await sandbox.ready();
    isBroken = true;
    expect((await post(sandbox, 'onboard', partner)).status).toBe(500);
    await expect(sandbox.close()).rejects.toThrow('disk full');
    isBroken = false;
    await sandbox.close();
    const after = createSandbox({ data: store });
    await after.ready();
    expect(after.emails).toEqual(sandbox.emails);
  });

  it('never gets the same keys twice, though the seed is the same', async () => {
    const data = memoryStore();
    const seen = new Set<string>();
    for (const partner_code of ['one', 'two', 'three']) {
      const sandbox = createSandbox({ data, seed: 1, masterKey: 'fixed' });
      const keys = await onboarded(sandbox, sandbox, { ...partner, partner_code });
      for (const value of [keys.partnerId, keys.partnerSecretKey, sandbox.emails.at(-1)?.link ?? '']) {
        expect(seen.has(value)).toBe(false);
        seen.add(value);
      }
      await sandbox.close();
    }
  });

  it('refuses what it could never hold, and goes on', async () => {
    const data = memoryStore();
    const sandbox = createSandbox({ data, fetch: callback().fetch });
    const credentials = await onboarded(sandbox);
    // Within the limit of a request; the record of the order is longer.
    const large = place(sandbox, credentials, { ...order, refund_bank: 'x'.repeat(1_047_700) });
    const { status, body } = await reply(large);
    expect([status, body.message]).toEqual([413, expect.stringContaining('The record')]);
    expect(sandbox.orders).toEqual([]);
    expect((await place(sandbox, credentials)).status).toBe(200);
  });

  it('that cannot be opened fails `ready`, and every request says 500', async () => {
    const sandbox = createSandbox({ data: '/nowhere/at/all.sqlite' });
    await expect(sandbox.ready()).rejects.toThrow();
    expect((await post(sandbox, 'onboard', partner)).status).toBe(500);
  });

  it('is needed before links and orders are looked up', () => {
    const sandbox = createSandbox({ data: memoryStore() });
    expect(() => sandbox.order('A-1')).toThrow('await sandbox.ready()');
    expect(() => sandbox.openLink('http://x/')).toThrow('await sandbox.ready()');
  });

  it.each([[''], [1], [{}], [null]])('that is none is refused: %j', (data) => {
    // @ts-expect-error: wrong on purpose
    expect(() => createSandbox({ data })).toThrow(expect.toSatisfy(isConfigurationError));
  });
});

describe('fixed partners', () => {
  const credentials = {
    partnerPublicKey: 'pk_partner_fixed',
    partnerSecretKey: 'sk_partner_fixed',
    merchantSecretKey: 'fixed-merchant',
    partnerCode: 'fixed',
    partnerId: 'partner-fixed',
  };

  it('can order at once, and regenerate like all others', async () => {
    const email = 'fixed@acme.example';
    const sandbox = createSandbox({
      partners: [{ email, credentials }],
      fetch: callback().fetch,
      whitelist: 'off',
    });
    expect((await place(sandbox, credentials)).status).toBe(200);
    expect((await regenerate(sandbox, credentials, { partner_code: 'fixed', email })).status).toBe(200);
    expect(await refusal(post(sandbox, 'onboard', { partner_code: 'fixed', email }))).toEqual([
      409,
      'partner_exists',
    ]);
    expect(sandbox.openLink(sandbox.emails[0]?.link ?? '').partnerId).toBe('partner-fixed');
  });

  it('have the given keys again after a restart', async () => {
    const data = memoryStore();
    const options = { data, partners: [{ credentials }], fetch: callback().fetch, whitelist: 'off' } as const;
    const before = createSandbox(options);
    expect((await place(before, credentials)).status).toBe(200);
    const after = createSandbox(options);
    const next = { ...order, partner_order_id: 'A-2' };
    expect((await place(after, credentials, next)).status).toBe(200);
    expect(after.orders).toHaveLength(2);
  });

  it.each([
    ['no list', {}],
    ['no merchant secret', [{ credentials: { ...credentials, merchantSecretKey: undefined } }]],
    ['no code', [{ credentials: { ...credentials, partnerCode: undefined } }]],
    ['a swapped key', [{ credentials: { ...credentials, partnerSecretKey: 'pk_partner_x' } }]],
    [
      'two with one code',
      [{ credentials }, { credentials: { ...credentials, partnerPublicKey: 'pk_partner_2' } }],
    ],
    ['an unknown name', [{ credentials, mail: 'x' }]],
  ])('with %s are refused', (_, partners) => {
    // @ts-expect-error: wrong on purpose
    expect(() => createSandbox({ partners })).toThrow(expect.toSatisfy(isConfigurationError));
  });
});
