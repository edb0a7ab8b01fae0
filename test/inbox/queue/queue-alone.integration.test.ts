import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { QueueInboxOptions } from '../../../src/inbox/queue/queue-inbox.ts';
import type { JsonValue } from '../../../src/internal/json.ts';
import { thisProcess } from '../../../src/store/process-identity.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { gate } from '../../webhooks/deliveries.ts';
import { order } from '../receiver.ts';
import { guarded } from './queue-for-tests.ts';

const leaseMs = 65_001;
const never = () => new Promise(() => {});

afterEach(() => vi.unstubAllGlobals());

/** Messages of these orders, the first of which were held by a process that died. */
async function withLost(
  ids: readonly string[],
  { lost, ...options }: Partial<QueueInboxOptions> & { lost: number },
) {
  const { webhooks, messages, openAnother, clock } = guarded(options);
  for (const id of ids) await webhooks.receive(order(id));
  async function dieWith(some: readonly unknown[]): Promise<void> {
    const { inbox, calls } = openAnother(never);
    for (const message of some) void inbox.handleMessage(message);
    await expect.poll(() => calls).toHaveLength(some.length);
    clock.now += leaseMs;
  }
  await dieWith(messages.slice(0, lost));
  return { messages, openAnother, clock, dieWith };
}

/** A process whose handlers end when they are told to. */
function heldProcess(openAnother: ReturnType<typeof guarded>['openAnother']) {
  const ends = new Map<string, ReturnType<typeof gate>>();
  const process = openAnother((id) => {
    const end = gate();
    ends.set(id, end);
    return end.opened;
  });
  const begun = (...ids: string[]) => expect.poll(() => process.calls).toEqual(ids);
  return { ...process, begun, end: (id: string) => ends.get(id)?.open() };
}

describe('a message whose process died', () => {
  it('is free as soon as its process has ended', async () => {
    const { webhooks, messages, store, openAnother } = guarded();
    await webhooks.receive(order('lost'));
    void openAnother(never).inbox.handleMessage(messages[0]);
    await nextTurn();
    const other = openAnother();
    expect(await other.inbox.handleMessage(messages[0])).toBe('retry');
    const [record] = await store.list({ prefix: 'queue/', limit: 1 });
    const { key = '', value } = record ?? {};
    const { lease, ...guard } = Object(value);
    // A process of this space that has ended.
    const holder = { ...thisProcess(), pid: spawnSync('true').pid };
    const taken: JsonValue = { ...guard, lease: { ...lease, holder } };
    await store.transact([key], (records) => records.set(key, taken));
    expect(await other.inbox.handleMessage(messages[0])).toBe('done');
  });

  it('waits for the running ones, runs by itself, and lets others run after it', async () => {
    const { messages, openAnother } = await withLost(['lost', 'A', 'B'], { lost: 1 });
    const { inbox, begun, end } = heldProcess(openAnother);
    const first = inbox.handleMessage(messages[1]);
    await begun('A');
    const lost = inbox.handleMessage(messages[0]);
    // It has asked the store by then, and so has its turn before B.
    await nextTurn();
    const second = inbox.handleMessage(messages[2]);
    await nextTurn();
    await begun('A');
    end('A');
    expect(await first).toBe('done');
    await begun('A', 'lost');
    await nextTurn();
    await begun('A', 'lost');
    end('lost');
    expect(await lost).toBe('done');
    await begun('A', 'lost', 'B');
    end('B');
    expect(await second).toBe('done');
  });

  it('has lost no attempt if others ran beside it, and loses one if it ran alone', async () => {
    const ids = ['poison', ...Array.from({ length: 9 }, (_, index) => `order ${index}`)];
    const { messages, openAnother, dieWith } = await withLost(ids, { lost: 10, maxAttempts: 2 });
    await dieWith(messages.slice(0, 1));
    await dieWith(messages.slice(0, 1));
    const { inbox, reports, calls } = openAnother(() => {});
    expect(await inbox.handleMessage(messages[0])).toBe('dead');
    for (const message of messages.slice(1)) expect(await inbox.handleMessage(message)).toBe('done');
    expect(reports).toEqual([['dead', 2], ...Array.from({ length: 9 }, () => ['handled', 1])]);
    expect(calls).toEqual(ids.slice(1));
  });

  it('is tried again on a runtime where no request waits for another, and so are others while it runs', async () => {
    const { messages, openAnother } = await withLost(['lost', 'A'], { lost: 1 });
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
    const { inbox, begun, end } = heldProcess(openAnother);
    const beside = inbox.handleMessage(messages[1]);
    await begun('A');
    expect(await inbox.handleMessage(messages[0])).toBe('retry');
    end('A');
    expect(await beside).toBe('done');
    const lost = inbox.handleMessage(messages[0]);
    await begun('A', 'lost');
    expect(await inbox.handleMessage(messages[1])).toBe('retry');
    end('lost');
    expect(await lost).toBe('done');
  });
});
