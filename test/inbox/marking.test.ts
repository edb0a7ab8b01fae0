import { describe, expect, it } from 'vitest';
import { type MarkResult, makeMarking, notCommitted } from '../../src/inbox/marking.ts';
import { memoryStore } from '../../src/store/memory-store.ts';

const marking = (result: MarkResult) =>
  makeMarking(
    async () => result,
    async () => true,
  );

describe('a mark in a transaction of the user', () => {
  it('is asked for once the handler has called for it', async () => {
    const one = marking('marked');
    expect([one.isAsked, await one.isThere()]).toEqual([false, true]);
    await one.mark(memoryStore());
    expect(one.isAsked).toBe(true);
  });

  it('fails in the transaction if another worker has the delivery, so that its effect is undone', async () => {
    const one = marking('lost');
    await expect(one.mark(memoryStore())).rejects.toMatchObject({
      code: 'lease_lost',
      message: expect.stringContaining('Another worker has the delivery by now'),
    });
    expect(one.isAsked).toBe(true);
  });

  it('fails in a store of another inbox, and says which one it needs', async () => {
    await expect(marking('absent').mark(memoryStore())).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/handledIn does not hold this delivery.*the inbox's own table/),
    });
  });

  it('is said to be missing where its transaction was not committed', () => {
    expect(notCommitted()).toMatchObject({
      code: 'not_committed',
      message: expect.stringContaining('was not committed'),
    });
  });
});
