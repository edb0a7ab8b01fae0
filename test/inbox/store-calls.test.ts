import { describe, expect, it } from 'vitest';
import { StoreError } from '../../src/errors/errors.ts';
import { limitStoreCalls, toInboxError } from '../../src/inbox/store-calls.ts';
import { gate } from '../webhooks/deliveries.ts';

describe('the error of a store, as the sender of a delivery gets it', () => {
  const cause = new Error('connection lost');
  const general = 'The store of the inbox cannot be used now.';

  const lost = new StoreError('store_lost', 'The file was replaced.', { remedy: 'Put it back.' });

  it.each<[string, unknown, string, string, string]>([
    ['any error', cause, 'store_unavailable', general, 'Look at the store'],
    [
      'a failed store',
      new StoreError('store_failed', 'No.'),
      'store_unavailable',
      general,
      'Look at the store',
    ],
    [
      'a full disk',
      new StoreError('disk_full', 'No.'),
      'store_full',
      'The disk of the inbox is full.',
      'Free some space',
    ],
    [
      'a newer version',
      new StoreError('newer_format', 'Newer.'),
      'store_unavailable',
      'Newer.',
      'Update this',
    ],
    ['one that knows what to do', lost, 'store_unavailable', 'The file was replaced.', 'Put it back.'],
  ])('has the code and the words that help: of %s', (_, error, code, what, advice) => {
    const made = toInboxError(error);
    expect(made).toMatchObject({ name: 'InboxError', code, cause: error });
    expect(made.message.startsWith(what)).toBe(true);
    expect(made.message).toContain(advice);
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
