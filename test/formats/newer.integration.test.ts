import { describe, expect, it, vi } from 'vitest';
import { recordQuarantine } from '../../src/inbox/quarantine/record-quarantine.ts';
import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import { isJsonObject, type JsonValue } from '../../src/internal/json.ts';
import { createKeyRotation } from '../../src/keys/create-key-rotation.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { createOtp } from '../../src/otp/create-otp.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { once, settleOnce } from '../../src/store/once.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { generation } from '../credentials/keys.ts';
import { quarantineOptions } from '../inbox/quarantine/quarantine-for-tests.ts';
import { bench, event, order } from '../orders/service.ts';
import { processWarnings } from '../support/process-warnings.ts';
import { rejected } from '../support/refusal.ts';
import { dumpRecords, loadRecords, type RecordDump } from './dumps.ts';
import { allFixtures } from './fixtures.ts';
import { day, eventOf, receiverOn, until, writtenAt } from './subjects.ts';

const fixtures = allFixtures.at(-1);
if (fixtures === undefined) throw new Error('There are no fixtures: node test/formats/make-fixtures.ts');
const { json, text } = fixtures;

/** A store with these records, as a newer version would write them in another form. */
async function newerStore(records: RecordDump, now: () => number): Promise<RecordStore> {
  const newer = (value: JsonValue) =>
    isJsonObject(value) ? { ...value, version: 2 } : String(value).replace('"version": 1', '"version": 2');
  const store = memoryStore({ now });
  await loadRecords(
    store,
    records.map((record) => ({ ...record, value: newer(record.value) })),
  );
  return store;
}

type Procedure = (store: RecordStore, effect: () => Promise<Response>) => Promise<unknown>[];
const now = () => writtenAt + 60_000;
const codes = json<{ secrets: string[]; ids: string[]; codes: string[]; records: RecordDump }>('otp.json');
const effects = json<{ key: string; records: RecordDump }>('once.json');

const procedures: Readonly<Record<string, readonly [RecordDump, Procedure]>> = {
  'the order journal': [
    json('orders.json'),
    (store, effect) => {
      const { journal, service } = bench({ now }, () => store);
      service.next.push(effect, effect, effect);
      return ['prepared', 'unknown', 'not-sent'].flatMap((id) => [
        journal.create({ ...order, partner_order_id: id }, { merchant: 'ngn' }),
        journal.observe(event(id)),
        journal.settle(id, 'accepted', 'seen'),
        journal.unsettled(),
      ]);
    },
  ],
  once: [
    effects.records,
    (store, effect) => [
      once(store, effects.key, async () => String(await effect())),
      settleOnce(store, effects.key, 'repeat'),
    ],
  ],
  'one-time codes': [
    codes.records,
    (store, effect) => {
      const { secrets, ids, codes: sent } = codes;
      const messenger = { sendMessage: effect };
      const otp = createOtp({ messenger, store, secrets, now, allowedPrefixes: ['+234'] });
      const asked = { purpose: 'sign-in', subject: 'user-7' };
      return [
        otp.check(ids[0] ?? '', sent[0] ?? '', asked),
        otp.issue({ to_phone: '+2348012345678', ...asked }),
      ];
    },
  ],
  'the keys of a rotation': [
    [{ key: 'partner-exchange-keys', value: text('keys/promoted.json') }],
    (store) => {
      const rotation = createKeyRotation({ storage: storedKeys({ store }) });
      return [rotation.credentials(), rotation.receive(generation(3))];
    },
  ],
  'a quarantine': [
    json('quarantine.json'),
    (store) => {
      const quarantine = recordQuarantine(store, { ...quarantineOptions, now });
      const body = { digest: 'f'.repeat(64), body: '{}', partners: 'p' };
      return [quarantine.list({ limit: 100 }), quarantine.keep(body)];
    },
  ],
};

describe('a record of a newer version is refused, and stays as it is', () => {
  it.each(Object.entries(procedures))('in %s', async (_, [records, procedure]) => {
    const store = await newerStore(records, now);
    const before = await dumpRecords(store);
    const effect = vi.fn(async () => new Response());
    for (const error of await Promise.all(procedure(store, effect).map(rejected))) {
      const { message, cause } = Object(error);
      expect(`${message} ${cause}`).toContain('is in the form of a newer version of this package');
    }
    expect(effect).not.toHaveBeenCalled();
    expect(await dumpRecords(store)).toEqual(before);
  });

  it('in storeInbox, whose other deliveries are handled, and which answers 503 for its own', async () => {
    processWarnings();
    const later = () => writtenAt + day;
    const store = await newerStore(json<RecordDump>('store-inbox.json'), later);
    const before = await dumpRecords(store);
    const because = { cause: { code: 'newer_format' } };
    // One at a time: those of the newer version are due before it.
    const inbox = storeInbox({ store, pollMs: 10, concurrency: 1, now: later });
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
    const after = await dumpRecords(store);
    expect(after.filter(({ key }) => before.some((record) => record.key === key))).toEqual(before);
  });
});
