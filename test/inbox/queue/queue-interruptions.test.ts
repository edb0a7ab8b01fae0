import { afterEach, describe, expect, it, vi } from 'vitest';
import type { InboxHost } from '../../../src/inbox/inbox.ts';
import { queueInbox } from '../../../src/inbox/queue/queue-inbox.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { gate } from '../../webhooks/deliveries.ts';
import { order } from '../receiver.ts';
import { guarded, open } from './queue-for-tests.ts';

const digest = 'ab'.repeat(32);
const message = { v: 1, digest, name: 'x', key: { index: 0 }, body: '{}', receivedAt: 1 };

afterEach(() => vi.unstubAllGlobals());

/** An inbox whose host says what it does, and whose review ends only when it is told to. */
function underReview() {
  const inbox = queueInbox({ send: async () => {} });
  const steps: string[] = [];
  const review = gate();
  const host: InboxHost = {
    hasHandlers: true,
    review: () => review.opened.then(() => void steps.push('reviewed')),
    handle: async () => {
      steps.push('handled');
      return 'handled';
    },
    report: () => {},
  };
  inbox.attach?.(host);
  return { inbox, steps, endReview: review.open };
}

describe('a message whose handling is interrupted', () => {
  it('by the caller is tried again, which is no attempt and is not reported', async () => {
    let behave: (signal: AbortController) => unknown = () => {
      throw new Error('no');
    };
    const caller = new AbortController();
    const { webhooks, inbox, messages, reports } = guarded({ maxAttempts: 2 }, () => behave(caller));
    await webhooks.receive(order('A'));
    expect(await inbox.handleMessage(messages[0])).toBe('retry');
    behave = (controller) => {
      controller.abort();
      return new Promise(() => {});
    };
    expect(await inbox.handleMessage(messages[0], { signal: caller.signal })).toBe('retry');
    expect(reports).toEqual([['failed', 1]]);
    // With a signal that is aborted already no handler is called.
    behave = () => {};
    expect(await inbox.handleMessage(messages[0], { signal: caller.signal })).toBe('retry');
    expect(await inbox.handleMessage(messages[0])).toBe('done');
    expect(reports.at(-1)).toEqual(['handled', 2]);
  });

  it('by the end of its store is done if it was handled, and the failure is reported', async () => {
    const errors: unknown[] = [];
    let isAway = false;
    const { inbox, store, openAnother } = guarded();
    const breakDown = () => {
      isAway = true;
    };
    const away = openAnother(breakDown, {
      store: {
        ...store,
        transact: (keys, change) =>
          isAway ? Promise.reject(new Error('away')) : store.transact(keys, change),
      },
      onStoreError: (error) => errors.push(error),
    });
    await away.webhooks.receive(order('A'));
    expect(await away.inbox.handleMessage(away.messages[0])).toBe('done');
    expect(errors).toMatchObject([{ code: 'store_unavailable' }]);
    expect(away.reports).toEqual([['handled', 1]]);
    // Its lease is not over.
    expect(await inbox.handleMessage(away.messages[0])).toBe('retry');
  });
});

describe('a message in another form', () => {
  it('is left to a process of the newer version that wrote it, and is reported', async () => {
    const errors: unknown[] = [];
    const { inbox, calls } = open({ onStoreError: (error) => errors.push(error) });
    expect(await inbox.handleMessage({ ...message, v: 2 })).toBe('retry');
    expect(errors).toMatchObject([{ code: 'newer_format' }]);
    expect(calls).toEqual([]);
  });
});

it('a message that its handlers ignore is done', async () => {
  const inbox = queueInbox({ send: async () => {} });
  inbox.attach?.({ hasHandlers: true, handle: async () => 'ignored', report: () => {} });
  expect(await inbox.handleMessage(message)).toBe('done');
});

describe('the review of the quarantine', () => {
  it('holds up no message of a process that stays', async () => {
    const { inbox, steps } = underReview();
    expect(await inbox.handleMessage(message)).toBe('done');
    expect(steps).toEqual(['handled']);
  });

  it('ends before a message does on a runtime that ends after its messages', async () => {
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
    const { inbox, steps, endReview } = underReview();
    const handling = inbox.handleMessage(message);
    await nextTurn();
    endReview();
    expect(await handling).toBe('done');
    expect(steps).toEqual(['reviewed', 'handled']);
  });
});
