import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { eventBody } from '../../src/devtools/testing/event-body.ts';
import { signedDelivery } from '../../src/devtools/testing/signed-delivery.ts';
import { isPartnerExchangeError } from '../../src/errors/errors.ts';
import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import { createKeyRotation, type KeyRotation } from '../../src/keys/create-key-rotation.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { maybeWritten } from '../../src/store/limited-calls.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import { generation } from '../credentials/keys.ts';
import { bases } from '../deployment/bases.ts';
import { credentials, fakeService, order } from '../orders/service.ts';
import { scratchFolder } from '../support/scratch.ts';

const storeError = () => maybeWritten(new Error('no answer'));

/** In memory, where there is a folder for it: hundreds of runs wait for the disk otherwise. */
function memoryFolder(): string {
  if (!existsSync('/dev/shm')) return scratchFolder();
  const folder = mkdtempSync('/dev/shm/partner-exchange-test-');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Whether it was done; anything but an error of the package is thrown on. */
async function isDone(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (!isPartnerExchangeError(error)) throw error;
    return false;
  }
}

/** As somebody repeats who was told of a failure. */
async function untilDone(act: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; tries <= 3; tries++) if (await isDone(act)) return;
  throw new Error('One failure is not over after three tries.');
}

function operatingStore(store: RecordStore, operate: Operate): RecordStore {
  return {
    transact: async (...given) => await operate(() => store.transact(...given)),
    list: async (options) => await operate(() => store.list(options)),
    close: () => store.close(),
  };
}

/** While it runs, every call of SQLite operates. */
async function withSqlite(operate: Operate, run: () => Promise<void>): Promise<void> {
  const restores = [
    operateMethods(DatabaseSync.prototype, ['exec', 'prepare', 'close'], operate),
    operateMethods(StatementSync.prototype, ['run', 'get', 'all'], operate),
  ];
  try {
    await run();
  } finally {
    for (const restore of restores) restore();
  }
}

describe('After any one operation has failed', () => {
  it.each([
    ['an I/O error', 10],
    ['a full disk', 13],
    ['a locked file', 5],
  ])(
    'sqliteStore holds whole changes, and all that it acknowledged: %s',
    async (message, errcode) => {
      const folder = memoryFolder();
      let runs = 0;
      const operations = await failEach(
        async (operate) => {
          const path = join(folder, `${++runs}.sqlite`);
          let acknowledged = 0;
          const add = async (store: RecordStore) => {
            await store.transact(['a', 'b'], (records) => {
              for (const key of ['a', 'b']) records.set(key, Number(records.get(key) ?? 0) + 1);
            });
            acknowledged++;
          };
          await withSqlite(operate, async () => {
            let store: RecordStore | undefined;
            const isOpen = await isDone(async () => {
              store = sqliteStore({ path, busyTimeoutMs: 100 });
            });
            if (store === undefined) return expect(isOpen).toBe(false);
            const opened = store;
            const done = [];
            for (let count = 0; count < 3; count++) done.push(await isDone(() => add(opened)));
            done.push(await isDone(() => opened.list({ prefix: '', limit: 10 })));
            expect(done.filter((one) => !one).length).toBeLessThan(2);
            await isDone(() => opened.close());
          });
          const store = sqliteStore({ path });
          const [a = { value: 0 }, b = { value: 0 }] = await store.list({ prefix: '', limit: 10 });
          expect(a.value).toBe(b.value);
          expect([acknowledged, acknowledged + 1]).toContain(a.value);
          await add(store);
          await store.close();
        },
        () => Object.assign(new Error(message), { errcode }),
      );
      expect(operations).toBeGreaterThan(30);
    },
    120_000,
  );

  it('storeInbox has handled every acknowledged delivery, and keeps nothing of the buyer', async () => {
    const operations = await failEach(async (operate) => {
      const clock = { now: 1_800_000_000_000 };
      const now = () => clock.now;
      const bare = memoryStore({ now });
      const handled: string[] = [];
      const store = operatingStore(bare, operate);
      const quick = { sleep: () => setImmediate(), random: (size: number) => new Uint8Array(size) };
      const inbox = storeInbox({ ...quick, store, now, role: 'drain', onStoreError() {} });
      const webhooks = createWebhooks({ credentials, inbox, onError() {} }).onAny((event) => {
        handled.push(String(event.partner_order_id));
        if (event.partner_order_id === 'B' && handled.length < 3) throw new Error('not yet');
      });
      for (const partner_order_id of ['A', 'B']) {
        const { body } = signedDelivery(eventBody('event.buy.init', { partner_order_id }), { credentials });
        let statuses: number[] = [];
        while (statuses.at(-1) !== 200) {
          statuses = [...statuses, (await webhooks.receive(body)).status];
          expect(statuses.length).toBeLessThan(3);
          expect([200, 503]).toContain(statuses.at(-1));
        }
      }
      let left = 1;
      for (let drains = 0; left > 0; drains++) {
        expect(drains).toBeLessThan(8);
        await isDone(async () => {
          left = (await inbox.drain()).left;
        });
        // Longer than a lease.
        clock.now += 120_000;
      }
      expect(await inbox.deadLetters().catch(() => [])).toEqual([]);
      expect(new Set(handled)).toEqual(new Set(['A', 'B']));
      // One of them more, and B fails once or twice.
      expect(handled.length).toBeLessThan(6);
      expect(JSON.stringify(await bare.list({ prefix: '', limit: 100 }))).not.toContain('@');
    }, storeError);
    expect(operations).toBeGreaterThan(15);
  }, 120_000);

  it('no order is sent twice, and none that was sent is forgotten', async () => {
    const operations = await failEach(async (operate) => {
      const clock = { now: 1_800_000_000_000 };
      const now = () => clock.now;
      const bare = memoryStore({ now });
      const service = fakeService();
      const exchange = new ExchangeClient({
        deployment: defineDeployment(bases),
        credentials,
        fetch: service.fetch,
      });
      const open = (store: RecordStore) => createOrderJournal({ exchange, store, now });
      const journal = open(operatingStore(bare, operate));
      await untilDone(() => journal.prepare(order));
      let said = '';
      await untilDone(async () => {
        said = (await journal.create(order)).state;
      });
      clock.now += 600_000;
      // Another process, after the lease.
      const known = await open(bare).get(order.partner_order_id);
      expect(service.requests.length).toBeLessThan(2);
      if (said === 'accepted') expect([known?.state, service.requests.length]).toEqual(['accepted', 1]);
      if (service.requests.length === 1) expect(['accepted', 'unknown']).toContain(known?.state);
      const { partner_order_id } = order;
      await untilDone(() => journal.observe({ partner_order_id }));
      expect((await open(bare).get(partner_order_id))?.state).toBe('accepted');
    }, storeError);
    expect(operations).toBeGreaterThan(3);
  });

  it('a rotation has all keys that it acknowledged', async () => {
    const operations = await failEach(async (operate) => {
      const bare = memoryStore();
      const reply = { status: 200, headers: new Headers(), body: undefined, decimal: () => undefined };
      const exchange = { regenerateKeys: async () => reply };
      /** A step of the rotation, as a program that has just started takes it. */
      const step = (work: (rotation: KeyRotation) => Promise<unknown>) =>
        untilDone(() => {
          const storage = storedKeys({ store: operatingStore(bare, operate) });
          return work(createKeyRotation({ storage, exchange }));
        });
      const keys = async () => {
        const storage = storedKeys({ store: bare });
        const { verifying } = await createKeyRotation({ storage }).credentials();
        return verifying.map(({ partnerPublicKey }) => partnerPublicKey);
      };
      await step((rotation) => rotation.receive(generation(1)));
      await step((rotation) =>
        rotation.request({ email: 'a@b.example', partner_code: 'a' }, { again: true }),
      );
      await step((rotation) => rotation.receive(generation(2)));
      expect(await keys()).toEqual(['pk_partner_1', 'pk_partner_2']);
      await step((rotation) => rotation.promote());
      expect(await keys()).toEqual(['pk_partner_2', 'pk_partner_1']);
    }, storeError);
    expect(operations).toBeGreaterThan(3);
  });
});

/** Runs one operation, or fails before it, or after it has taken effect. */
type Operate = <Result>(operation: () => Result) => Result;

/**
 * Plays a run again and again: in the n-th pair of them the n-th operation fails, before it takes effect and after it,
 * until a run has no operation left to fail. Complete, and not random.
 *
 * @param run calls `operate` for each of its operations, and checks its books when something has failed
 * @returns how many operations a run has
 */
async function failEach(run: (operate: Operate) => Promise<void>, makeError: () => Error): Promise<number> {
  for (let failing = 1; ; failing++) {
    for (const moment of ['before', 'after'] as const) {
      let count = 0;
      const operate: Operate = (operation) => {
        const isFailing = ++count === failing;
        if (isFailing && moment === 'before') throw makeError();
        const result = operation();
        if (!isFailing) return result;
        if (!(result instanceof Promise)) throw makeError();
        // Sound: it is rejected, so it has no value.
        return result.then(() => Promise.reject(makeError())) as typeof result;
      };
      try {
        await run(operate);
      } catch (error) {
        throw new Error(`Operation ${failing} failed ${moment} it took effect.`, { cause: error });
      }
      if (count < failing) return failing - 1;
    }
  }
}

/** Has methods operate. @returns how to take that back */
function operateMethods(target: object, names: readonly string[], operate: Operate): () => void {
  const originals = names.map((name) => [name, Object.getOwnPropertyDescriptor(target, name)] as const);
  for (const [name, descriptor] of originals) {
    const original: unknown = descriptor?.value;
    if (typeof original !== 'function') throw new TypeError(`${name} is no method of its own.`);
    Object.defineProperty(target, name, {
      ...descriptor,
      value(this: unknown, ...given: unknown[]) {
        return operate(() => Reflect.apply(original, this, given));
      },
    });
  }
  return () => {
    for (const [name, descriptor] of originals) Object.defineProperty(target, name, descriptor ?? {});
  };
}
