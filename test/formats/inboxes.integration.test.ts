import { describe, expect, it } from 'vitest';
import type { HandlingOptions } from '../../src/inbox/handling-options.ts';
import { recordQuarantine } from '../../src/inbox/quarantine/record-quarantine.ts';
import { type QueueInbox, queueInbox } from '../../src/inbox/queue/queue-inbox.ts';
import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { quarantineOptions } from '../inbox/quarantine/quarantine-for-tests.ts';
import { loadRecords, type RecordDump } from './dumps.ts';
import { allFixtures, type Fixtures } from './fixtures.ts';
import { day, eventOf, receiverOn, traceparent, until, writtenAt } from './subjects.ts';

/** Everything is due by then, and nothing is forgotten. */
const later = writtenAt + day;
const key = { index: 0, partnerId: 'P-1', partnerCode: 'acme', merchant: 'ngn' };

async function openInbox(fixtures: Fixtures, options: HandlingOptions = {}) {
  const store = memoryStore({ now: () => later });
  await loadRecords(store, fixtures.json<RecordDump>('store-inbox.json'));
  return storeInbox({ store, pollMs: 10, now: () => later, ...options });
}

for (const fixtures of allFixtures) {
  describe(`the records of storeInbox, written by ${fixtures.release}`, () => {
    it('handles each stored delivery, with its attempt, its key and its trace', async () => {
      const inbox = await openInbox(fixtures);
      const { handled, contexts, reports } = receiverOn({ inbox });
      await until(() => handled.length === 4);
      await until(async () => (await inbox.counts()).open === 0);
      await inbox.stop();
      expect(handled.toSorted()).toEqual(['alone', 'failed', 'leased', 'waiting']);
      for (const context of contexts.values()) expect(context).toMatchObject({ name: 'event.buy.init', key });
      const attempts = reports.map(({ digest, attempt }) => [
        [...contexts].find(([, context]) => context.digest === digest)?.[0],
        attempt,
      ]);
      // The lease that was lost beside others was no attempt.
      expect(Object.fromEntries(attempts)).toEqual({ waiting: 1, failed: 2, alone: 2, leased: 1 });
    });

    it('lists the dead letters with their reasons, and handles them once they are replayed', async () => {
      const inbox = await openInbox(fixtures);
      const { handled } = receiverOn({ inbox });
      const dead = await inbox.deadLetters({ withBody: true });
      expect(dead.map(({ body, attempts, reason }) => [body, attempts, reason])).toEqual([
        [eventOf('dead-alone'), 1, 'Error: no such order'],
        [eventOf('dead'), 2, 'Error: no such order: dead'],
      ]);
      for (const { digest } of dead) expect(await inbox.replay(digest)).toBe(true);
      await until(() => handled.length === 6);
      expect(handled).toEqual(expect.arrayContaining(['dead', 'dead-alone']));
      await until(async () => (await inbox.counts()).dead === 0);
      await inbox.stop();
    });

    it('takes a repetition of any of them for a duplicate', async () => {
      const inbox = await openInbox(fixtures, { role: 'receiver' });
      const { webhooks } = receiverOn({ inbox });
      for (const id of ['handled', 'dead', 'dead-alone', 'failed', 'alone', 'leased', 'waiting'])
        expect(await webhooks.receive(eventOf(id)), id).toMatchObject({ kind: 'duplicate' });
      await inbox.stop();
    });
  });

  it(`the unverified bodies of an inbox are listed and removed, written by ${fixtures.release}`, async () => {
    const now = () => writtenAt;
    const store = memoryStore({ now });
    await loadRecords(store, fixtures.json<RecordDump>('quarantine.json'));
    const options = { ...quarantineOptions, now };
    const quarantine = recordQuarantine(store, options);
    const found = await quarantine.list({ limit: 100 });
    expect(found.map(({ body }) => body)).toEqual([eventOf('first'), eventOf('second')]);
    await quarantine.remove(found.map(({ digest }) => digest));
    expect(await store.list({ prefix: '', limit: 100 })).toEqual([]);
  });

  describe(`messages of queueInbox, written by ${fixtures.release}`, () => {
    interface Written {
      readonly messages: readonly object[];
      readonly records: RecordDump;
    }
    const { messages, records } = fixtures.json<Written>('queue-inbox.json');
    const [waiting, failed, handled, leased] = messages;

    async function open(now: () => number): Promise<QueueInbox> {
      const store = memoryStore({ now });
      await loadRecords(store, records);
      return queueInbox({ send: () => Promise.reject(new Error('Nothing is sent.')), store, now });
    }

    it('handles each message once, as an object, as text and as bytes', async () => {
      const inbox = await open(() => later);
      const receiver = receiverOn({ inbox });
      expect(await inbox.handleMessage(waiting)).toBe('done');
      expect(await inbox.handleMessage(JSON.stringify(failed))).toBe('done');
      expect(await inbox.handleMessage(handled)).toBe('done');
      expect(await inbox.handleMessage(Buffer.from(JSON.stringify(leased)))).toBe('done');
      expect(receiver.handled).toEqual(['waiting', 'failed', 'leased']);
      // The lease that was lost before the message ran alone was no attempt.
      expect(receiver.reports.map(({ attempt }) => attempt)).toEqual([1, 2, 1]);
      expect(receiver.contexts.get('waiting')).toMatchObject({ name: 'event.buy.init', key });
      expect(waiting).toMatchObject({ traceparent });
    });
  });
}
