import { describe, expect, it } from 'vitest';
import { memoryInbox } from '../../../src/inbox/memory-inbox.ts';
import { gate } from '../../webhooks/deliveries.ts';
import { order, receiver } from '../receiver.ts';

const digest = 'ab'.repeat(32);
const delivery = { digest, name: 'event.buy.init', key: { index: 0 }, body: order('A') };
const fail = () => Promise.reject(new Error('no such order'));

/** An inbox with one dead letter, whose handler is mended. */
async function withDeadLetter() {
  const inbox = memoryInbox({ maxAttempts: 1 });
  let behave: () => unknown = fail;
  const { webhooks, calls, reports } = receiver(inbox, () => behave());
  await webhooks.receive(order('A'));
  behave = () => {};
  const [letter] = await inbox.deadLetters();
  return { inbox, webhooks, calls, reports, digest: letter?.digest ?? '' };
}

describe('the attempts of the memory inbox', () => {
  it('are counted on while a repetition is busy', async () => {
    const inbox = memoryInbox({ maxAttempts: 2 });
    await expect(inbox.receive(delivery, fail)).rejects.toThrow('no such order');
    const end = gate();
    const second = inbox.receive(delivery, () => end.opened.then(fail));
    expect(await inbox.receive(delivery, fail)).toBe('busy');
    end.open();
    await expect(second).rejects.toThrow('no such order');
    expect(await inbox.deadLetters()).toMatchObject([{ attempts: 2 }]);
  });

  it('are forgotten when no handler wants the delivery any more', async () => {
    const inbox = memoryInbox({ maxAttempts: 1 });
    await expect(inbox.receive(delivery, fail)).rejects.toThrow('no such order');
    expect(await inbox.receive(delivery, async () => 'ignored')).toBe('ignored');
    expect(await inbox.deadLetters()).toEqual([]);
  });

  it('are no dead letter before the last one', async () => {
    const inbox = memoryInbox({ maxAttempts: 2 });
    await expect(inbox.receive(delivery, fail)).rejects.toThrow('no such order');
    expect(await inbox.deadLetters()).toEqual([]);
    expect(await inbox.health()).toEqual({ open: 0, dead: 0, quarantined: 0, oldestAgeMs: null });
    await expect(inbox.receive(delivery, fail)).rejects.toThrow('no such order');
    expect(await inbox.health()).toEqual({ open: 0, dead: 1, quarantined: 0, oldestAgeMs: null });
  });

  it('are counted once for a handler that rejects when it is aborted', async () => {
    // real time: nothing ends before it: a busy machine only makes it later.
    const inbox = memoryInbox({ maxAttempts: 2, timeLimitMs: 5 });
    const { webhooks, reports } = receiver(
      inbox,
      (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal?.addEventListener('abort', () => reject(new Error('aborted'))),
        ),
    );
    const begun = performance.now();
    for (let tries = 0; tries < 2; tries++) await webhooks.receive(order('A'));
    const tookMs = performance.now() - begun;
    expect(await inbox.deadLetters()).toMatchObject([{ attempts: 2 }]);
    const dead = reports.filter(({ outcome }) => outcome === 'dead');
    expect(dead).toMatchObject([
      { attempt: 2, durationMs: expect.toSatisfy((ms) => ms >= 0 && ms < tookMs) },
    ]);
  });

  it('say how long the last one took', async () => {
    const begun = performance.now();
    const { reports } = await withDeadLetter();
    const tookMs = performance.now() - begun;
    expect(reports.filter(({ outcome }) => outcome === 'dead')).toMatchObject([
      { attempt: 1, durationMs: expect.toSatisfy((ms) => ms >= 0 && ms < tookMs) },
    ]);
  });
});

describe('a dead letter of the memory inbox', () => {
  it('is handled when it is replayed, and is none any more', async () => {
    const { inbox, webhooks, calls, digest } = await withDeadLetter();
    expect(await inbox.replay('of no delivery')).toBe(false);
    expect(await inbox.replay(digest)).toBe(true);
    expect(calls).toEqual(['A', 'A']);
    expect(await inbox.deadLetters()).toEqual([]);
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
  });

  it('is never handled once it is discarded', async () => {
    const { inbox, webhooks, calls, digest } = await withDeadLetter();
    expect(await inbox.discard('of no delivery')).toBe(false);
    expect(await inbox.discard(digest)).toBe(true);
    expect(await inbox.discard(digest)).toBe(false);
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    expect(calls).toEqual(['A']);
  });

  it('can be replayed to nobody without webhooks', async () => {
    const inbox = memoryInbox({ maxAttempts: 1 });
    await expect(inbox.receive(delivery, fail)).rejects.toThrow('no such order');
    expect(await inbox.replay(digest)).toBe(false);
  });
});

describe('the memory inbox', () => {
  it('belongs to one createWebhooks', () => {
    const inbox = memoryInbox();
    receiver(inbox);
    expect(() => receiver(inbox)).toThrow('belongs to one createWebhooks');
  });

  it('stops when its handlers have ended, and accepts nothing meanwhile', async () => {
    const inbox = memoryInbox();
    const [begun, end] = [gate(), gate()];
    const { webhooks } = receiver(inbox, () => {
      begun.open();
      return end.opened;
    });
    const handling = webhooks.receive(order('A'));
    await begun.opened;
    const stopping = inbox.stop();
    expect(await webhooks.receive(order('B'))).toMatchObject({
      status: 503,
      error: { code: 'inbox_stopped' },
    });
    end.open();
    expect(await stopping).toBe('drained');
    expect(await handling).toMatchObject({ kind: 'handled' });
  });

  it('aborts handlers that still run after the time of its stop, so that their deliveries are sent again', async () => {
    const inbox = memoryInbox();
    const begun = gate();
    const { webhooks } = receiver(inbox, () => {
      begun.open();
      return new Promise(() => {});
    });
    const handling = webhooks.receive(order('A'));
    await begun.opened;
    expect(await inbox.stop({ timeoutMs: 0 })).toBe('cut-off');
    expect(await handling).toMatchObject({ status: 503, error: { code: 'inbox_stopped' } });
  });
});
