import { describe, expect, it } from 'vitest';
import { StoreError, type StoreErrorCode } from '../../src/errors/errors.ts';
import { limitStoreCalls, toInboxError } from '../../src/inbox/store-calls.ts';
import { gate } from '../webhooks/deliveries.ts';

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
    const call = limitStoreCalls(5_000, 1);
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
    const call = limitStoreCalls(5);
    await expect(call(() => new Promise(() => {}))).rejects.toMatchObject({
      code: 'store_unavailable',
      cause: { message: 'The store did not answer within 5 ms.' },
    });
  });
});
