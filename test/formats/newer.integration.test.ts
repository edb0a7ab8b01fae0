import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { recordQuarantine } from '../../src/inbox/quarantine/record-quarantine.ts';
import { type QueueInboxOptions, queueInbox } from '../../src/inbox/queue/queue-inbox.ts';
import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import { isJsonObject } from '../../src/internal/json.ts';
import { createKeyRotation } from '../../src/keys/create-key-rotation.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { createOtp } from '../../src/otp/create-otp.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { once, settleOnce } from '../../src/store/once.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { generation } from '../credentials/keys.ts';
import { partnerExchange } from '../devtools/cli/run-in-process.ts';
import { quarantineOptions } from '../inbox/quarantine/quarantine-for-tests.ts';
import { bench, event, order } from '../orders/service.ts';
import { refusal, rejected } from '../support/refusal.ts';
import { dumpRecords, loadRecords, type RecordDump } from './dumps.ts';
import { allFixtures } from './fixtures.ts';
import { day, eventOf, receiverOn, until, writtenAt } from './subjects.ts';

const fixtures = allFixtures.at(-1);
if (fixtures === undefined) throw new Error('There are no fixtures: node test/formats/make-fixtures.ts');
const { json, copy } = fixtures;

const refused = { code: 'newer_format' };
/** Where our own error is about the inbox, or about the codes. */
const because = { cause: refused };
const later = writtenAt + day;

/** The records as a newer version would write them in another form. */
function newer(records: RecordDump): RecordDump {
  return records.map((record) =>
    isJsonObject(record.value) ? { ...record, value: { ...record.value, version: 2 } } : record,
  );
}

afterEach(() => vi.restoreAllMocks());

describe('a record of a newer version is refused, and stays as it is', () => {
  async function open(records: RecordDump, now = later): Promise<RecordStore> {
    const store = memoryStore({ now: () => now });
    await loadRecords(store, records);
    return store;
  }

  it('in storeInbox, whose other deliveries are handled, and which answers 503 for its own', async () => {
    vi.spyOn(process, 'emitWarning').mockReturnValue();
    const store = await open(newer(json<RecordDump>('store-inbox.json')));
    const before = await dumpRecords(store);
    // One at a time: those of the newer version are due before it.
    const inbox = storeInbox({ store, pollMs: 10, concurrency: 1, now: () => later });
    const { webhooks, handled } = receiverOn({ inbox });
    expect(await webhooks.receive(eventOf('waiting'))).toMatchObject({ status: 503, error: because });
    expect(await webhooks.receive(eventOf('fresh'))).toMatchObject({ kind: 'stored' });
    await until(async () => (await inbox.counts()).open === 4);
    expect(await inbox.counts()).toEqual({ open: 4, dead: 2 });
    expect(await inbox.deadLetters()).toEqual([]);
    const digest = before.find(({ key }) => key.includes('/dead/'))?.key.slice(-64) ?? '';
    for (const act of [inbox.deadLetter, inbox.replay, inbox.discard])
      expect(await rejected(act(digest))).toMatchObject({ ...because, code: 'store_unavailable' });
    await inbox.stop();
    expect(handled).toEqual(['fresh']);
    expect((await dumpRecords(store)).filter(({ key }) => before.some((each) => each.key === key))).toEqual(
      before,
    );
  });

  it('in the guard of queueInbox, whose messages go back to the queue', async () => {
    const { messages, records } = json<{ messages: object[]; records: RecordDump }>('queue-inbox.json');
    const store = await open(newer(records));
    const before = await dumpRecords(store);
    const onStoreError = vi.fn();
    const inbox = queueInbox({ send: async () => {}, store, onStoreError, now: () => later });
    const { webhooks, handled } = receiverOn({ inbox });
    for (const message of messages) expect(await inbox.handleMessage(message)).toBe('retry');
    expect(onStoreError).toHaveBeenCalledTimes(messages.length);
    expect(await webhooks.receive(eventOf('waiting'))).toMatchObject({ status: 503, error: because });
    expect(handled).toEqual([]);
    expect(await dumpRecords(store)).toEqual(before);
  });

  it('in a quarantine, which keeps nothing beside it', async () => {
    const store = await open(newer(json<RecordDump>('quarantine.json')), writtenAt);
    const before = await dumpRecords(store);
    const options = { ...quarantineOptions, now: () => writtenAt };
    const quarantine = recordQuarantine(store, options);
    const refused = { message: expect.stringContaining('in the form of a newer version') };
    expect(await rejected(quarantine.list({ limit: 100 }))).toMatchObject(refused);
    const body = { digest: 'f'.repeat(64), body: '{}', partners: 'p' };
    expect(await rejected(quarantine.keep(body))).toMatchObject(refused);
    expect(await dumpRecords(store)).toEqual(before);
  });

  it('in the order journal, which sends nothing', async () => {
    const { journal, service, store, clock } = bench();
    await loadRecords(store, newer(json<RecordDump>('orders.json')));
    const before = await dumpRecords(store);
    clock.now += 200_000;
    for (const id of ['prepared', 'unknown', 'not-sent']) {
      const create = journal.create({ ...order, partner_order_id: id }, { merchant: 'ngn' });
      expect(await rejected(create), id).toMatchObject(refused);
      expect(await rejected(journal.observe(event(id))), id).toMatchObject(refused);
      expect(await rejected(journal.settle(id, 'accepted', 'seen')), id).toMatchObject(refused);
    }
    expect(await rejected(journal.unsettled())).toMatchObject(refused);
    expect(service.requests).toEqual([]);
    expect(await dumpRecords(store)).toEqual(before);
  });

  it('under a handler that observes its event: the delivery is put back and reported, which is no attempt', async () => {
    const { journal, store } = bench({ now: () => later }, () => memoryStore({ now: () => later }));
    await loadRecords(store, newer(json<RecordDump>('orders.json')));
    const errors: unknown[] = [];
    const inbox = storeInbox({
      ...{ store, role: 'drain', prefix: 'events/', maxAttempts: 1, now: () => later },
      onStoreError: (error) => errors.push(error),
    });
    const { webhooks, reports } = receiverOn({ inbox }, () => journal.observe(event('unknown')));
    await webhooks.receive(eventOf('unknown'));
    expect(await inbox.drain()).toEqual({ handled: 0, ignored: 0, failed: 0, dead: 0, left: 1 });
    expect(await inbox.find?.(reports[0]?.digest ?? '')).toMatchObject([{ state: 'waiting', attempts: 0 }]);
    expect(errors).toMatchObject([{ code: 'newer_format' }]);
  });

  it('in once, which has no effect', async () => {
    const { key, records } = json<{ key: string; records: RecordDump }>('once.json');
    const store = await open(newer(records));
    const before = await dumpRecords(store);
    const run = vi.fn(() => 'again');
    expect(await rejected(once(store, key, run))).toMatchObject(refused);
    expect(await rejected(settleOnce(store, key, 'repeat'))).toMatchObject(refused);
    expect(run).not.toHaveBeenCalled();
    expect(await dumpRecords(store)).toEqual(before);
  });

  it('among the one-time codes, of which none is sent or right', async () => {
    const { secrets, ids, codes, records } = json<{
      readonly secrets: string[];
      readonly ids: string[];
      readonly codes: string[];
      readonly records: RecordDump;
    }>('otp.json');
    const now = () => writtenAt + 60_000;
    const store = await open(newer(records), now());
    const before = await dumpRecords(store);
    const messenger = { sendMessage: vi.fn() };
    const otp = createOtp({ messenger, store, secrets, now, allowedPrefixes: ['+234'] });
    const asked = { purpose: 'sign-in', subject: 'user-7' };
    expect(await rejected(otp.check(ids[0] ?? '', codes[0] ?? '', asked))).toMatchObject(because);
    expect(await rejected(otp.issue({ to_phone: '+2348012345678', ...asked }))).toMatchObject(because);
    expect(messenger.sendMessage).not.toHaveBeenCalled();
    expect(await dumpRecords(store)).toEqual(before);
  });

  it('with the keys of a rotation', async () => {
    const records = json<RecordDump>('stored-keys.json').map((record) => {
      return { ...record, value: String(record.value).replace('"version": 1', '"version": 2') };
    });
    const store = await open(records);
    const rotation = createKeyRotation({ storage: storedKeys({ store }) });
    expect(await rejected(rotation.credentials())).toMatchObject(refused);
    expect(await rejected(rotation.receive(generation(3)))).toMatchObject(refused);
    expect(await dumpRecords(store)).toEqual(records);
  });
});

describe('a file of a newer version is refused, and stays as it is', () => {
  it('with a saved delivery, which is not posted', async () => {
    const saved = json<object>(join('saved', fixtures?.names('saved').at(-1) ?? ''));
    const path = copy(join('saved', fixtures?.names('saved').at(-1) ?? ''));
    writeFileSync(path, JSON.stringify({ ...saved, format: 'partner-exchange-delivery/2' }));
    const fetch = vi.fn(async () => new Response());
    const { code, stdout } = await partnerExchange(['replay', path, '--to', 'http://127.0.0.1:1'], { fetch });
    expect(code).toBe(1);
    expect(stdout).toContain('newer_format');
    expect(fetch).not.toHaveBeenCalled();
  });

  it('that learn has written', () => {
    const learnt = { ...json<object>('deployment.json'), format: 'partner-exchange-deployment/2' };
    expect(refusal(() => defineDeployment({ learnt }))).toBe('ConfigurationError invalid_deployment');
  });
});

it('a message of a newer version goes back to the queue', async () => {
  const [message] = json<{ messages: object[] }>('queue-inbox.json').messages;
  const onStoreError = vi.fn<NonNullable<QueueInboxOptions['onStoreError']>>();
  const inbox = queueInbox({ send: async () => {}, onStoreError });
  const { handled } = receiverOn({ inbox });
  expect(await inbox.handleMessage({ ...message, v: 2 })).toBe('retry');
  expect(onStoreError.mock.calls).toMatchObject([[refused]]);
  expect(handled).toEqual([]);
});
