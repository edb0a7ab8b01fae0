import { describe, expect, it } from 'vitest';
import { StoreError, type StoreErrorCode } from '../../src/errors/errors.ts';
import {
  durableInbox,
  type InboxEngine,
  limitStoreCalls,
  toInboxError,
} from '../../src/inbox/durable-inbox.ts';
import type { InboxHost } from '../../src/inbox/inbox.ts';
import type { CountedQuarantine } from '../../src/inbox/quarantine/quarantine.ts';
import { thrownBy } from '../support/refusal.ts';
import { gate } from '../webhooks/deliveries.ts';

const digest = 'ab'.repeat(32);
const delivery = { digest, name: 'x', key: { index: 0 }, body: '{}' };
const handle = async () => 'handled' as const;
const host: InboxHost = { hasHandlers: true, handle, report: () => {} };
const body = { digest, body: '{}', partners: 'P', share: '00' };
const stopped = { name: 'InboxError', code: 'inbox_stopped' };

/** An inbox on an engine that only says what it was asked for. */
function open(changes: Partial<InboxEngine> = {}, role: 'both' | 'receiver' = 'both') {
  const asked: unknown[][] = [];
  function answer<Result>(name: string, result: Result) {
    return async (...given: unknown[]): Promise<Result> => {
      asked.push([name, ...given]);
      return result;
    };
  }
  const engine: InboxEngine = {
    store: answer('store', 'stored'),
    start: () => void asked.push(['start']),
    deadLetters: answer('deadLetters', []),
    deadLetter: answer('deadLetter', undefined),
    replay: answer('replay', true),
    discard: answer('discard', true),
    counts: answer('counts', { open: 2, dead: 1 }),
    oldestReceivedAt: answer('oldestReceivedAt', 400),
    find: answer('find', []),
    held: answer('held', []),
    quarantine: undefined,
    stop: answer('stop', 'drained'),
    ...changes,
  };
  return { inbox: durableInbox(engine, { role, now: () => 1_000 }), asked };
}

const quarantine: CountedQuarantine = {
  keep: async () => 'kept',
  list: async () => [],
  remove: async () => {},
  count: async () => 3,
};

describe('a durable inbox', () => {
  it('belongs to one host, and handles unless it only receives', () => {
    const { inbox, asked } = open();
    inbox.attach?.(host);
    expect(thrownBy(() => inbox.attach?.(host))).toMatchObject({ code: 'invalid_option' });
    expect(asked).toEqual([['start']]);
    const receiver = open({}, 'receiver');
    receiver.inbox.attach?.(host);
    expect([receiver.inbox.role, receiver.asked]).toEqual(['receiver', []]);
  });

  it('gives its engine what it was asked for, with defaults', async () => {
    const { inbox, asked } = open();
    expect(await inbox.receive(delivery, handle)).toBe('stored');
    await inbox.deadLetters();
    await inbox.deadLetter(digest, { withBody: true });
    expect([await inbox.replay(digest), await inbox.discard(digest)]).toEqual([true, true]);
    await inbox.find?.('ab');
    await inbox.held?.(5);
    await inbox.stop({ timeoutMs: 7_000 });
    expect(asked).toEqual([
      ['store', delivery],
      ['deadLetters', { limit: 100, withBody: false }],
      ['deadLetter', digest, { withBody: true }],
      ['replay', digest],
      ['discard', digest],
      ['find', 'ab', 100],
      ['held', 5],
      ['stop', 7_000],
    ]);
  });

  it('asks its engine for no digest that is none, and for no limit that is none', async () => {
    const { inbox, asked } = open();
    // From JavaScript: a query parameter that is not there.
    const missing = Object(undefined).digest;
    for (const act of [inbox.deadLetter, inbox.replay, inbox.discard, inbox.find])
      await expect(act?.(missing)).rejects.toThrow('digest must be the digest of a dead letter');
    await expect(inbox.find?.('ab', 0)).rejects.toThrow('limit must be a whole number');
    await expect(inbox.held?.(0.5)).rejects.toThrow('limit must be a whole number');
    expect(asked).toEqual([]);
  });

  it('counts what its quarantine holds, if it has one', async () => {
    const without = open().inbox;
    expect(without.quarantine).toBeUndefined();
    expect(await without.counts()).toEqual({ open: 2, dead: 1 });
    expect(await without.health()).toEqual({ open: 2, dead: 1, quarantined: 0, oldestAgeMs: 600 });
    const { inbox } = open({ quarantine });
    expect(await inbox.counts()).toEqual({ open: 2, dead: 1, quarantined: 3 });
    expect(await inbox.health()).toMatchObject({ quarantined: 3 });
    const empty = open({ quarantine: { ...quarantine, count: async () => 0 } }).inbox;
    expect(await empty.counts()).toEqual({ open: 2, dead: 1 });
  });

  it.each([
    ['none', undefined, null],
    ['one that is stored ahead of the clock', 1_500, 0],
    ['one at a fraction of a millisecond', 399.6, 600],
  ])('has the age of the oldest open delivery: of %s', async (_, oldest, oldestAgeMs) => {
    const { inbox } = open({ oldestReceivedAt: async () => oldest });
    expect(await inbox.health()).toMatchObject({ oldestAgeMs });
  });

  it('receives nothing once it stops, and answers about what it holds until it has stopped', async () => {
    const end = gate();
    let stops = 0;
    const { inbox, asked } = open({
      quarantine,
      stop: async () => {
        stops++;
        await end.opened;
        return 'cut-off';
      },
    });
    const stopping = [inbox.stop(), inbox.stop()];
    await expect(inbox.receive(delivery, handle)).rejects.toMatchObject(stopped);
    await expect(inbox.quarantine?.keep(body)).rejects.toMatchObject(stopped);
    expect(await inbox.counts()).toMatchObject({ open: 2 });
    end.open();
    expect(await Promise.all(stopping)).toEqual(['cut-off', 'cut-off']);
    expect([stops, asked]).toEqual([1, [['counts']]]);
  });

  it('answers nothing more once it has stopped, also if that failed', async () => {
    const { inbox, asked } = open({ stop: () => Promise.reject(new Error('no')) });
    await expect(inbox.stop()).rejects.toThrow('no');
    const acts = [
      ...[() => inbox.deadLetters(), () => inbox.deadLetter(digest), () => inbox.replay(digest)],
      ...[() => inbox.discard(digest), () => inbox.counts(), () => inbox.health()],
      ...[() => inbox.find?.('ab'), () => inbox.held?.(), () => inbox.receive(delivery, handle)],
    ];
    for (const act of acts) await expect(act()).rejects.toMatchObject(stopped);
    expect(asked).toEqual([]);
  });
});

describe('the error of a store, as the sender of a delivery gets it', () => {
  const cause = new Error('connection lost');
  const general = 'The store of the inbox cannot be used now.';

  it.each<[string, unknown, string, string]>([
    ['any error', cause, 'store_unavailable', general],
    ['a failed store', new StoreError('store_failed', 'Marker.', { cause }), 'store_unavailable', general],
    ['a full disk', new StoreError('disk_full', 'Marker.'), 'store_full', 'The disk of the inbox is full.'],
    [
      'a newer version',
      new StoreError('newer_format', 'A record is newer.'),
      'store_unavailable',
      'A record is newer.',
    ],
    [
      'a store that knows what to do',
      new StoreError('store_lost', 'The file was replaced.', { remedy: 'Put it back.' }),
      'store_unavailable',
      'The file was replaced.',
    ],
  ])('has the code and the words that help: of %s', (_, error, code, what) => {
    const made = toInboxError(error);
    expect(made).toMatchObject({ name: 'InboxError', code, cause: error });
    expect(made.message.startsWith(what)).toBe(true);
  });

  it.each<[StoreErrorCode, string | undefined, string]>([
    ['store_lost', 'Put it back.', 'Put it back.'],
    ['newer_format', undefined, 'Update this process'],
    ['store_failed', undefined, 'Look at the store'],
  ])('says what to do: for %s with the advice %s', (code, remedy, advice) => {
    expect(
      toInboxError(new StoreError(code, 'What.', remedy === undefined ? {} : { remedy })).message,
    ).toContain(advice);
  });

  it('is that of too many deliveries once they wait', async () => {
    const call = limitStoreCalls({ storeTimeoutMs: 5_000, maxPending: 1 });
    const answered = gate();
    const first = call(async () => {
      await answered.opened;
      return 'stored';
    });
    await expect(call(async () => 'stored')).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('1 deliveries wait for the store of the inbox.'),
    });
    answered.open();
    expect(await first).toBe('stored');
    expect(await call(async () => 'stored')).toBe('stored');
  });

  it('comes when the store does not answer in time', async () => {
    // real time: nothing ends before it: a busy machine only makes it later.
    const call = limitStoreCalls({ storeTimeoutMs: 5, maxPending: 1 });
    await expect(call(() => new Promise(() => {}))).rejects.toMatchObject({
      code: 'store_unavailable',
      cause: { message: 'The store did not answer within 5 ms.' },
    });
  });
});
