import type { ManagedInbox } from '../../inbox/inbox.ts';
import { sleep } from '../../internal/backoff.ts';
import type { TestRunner } from './describe-record-store.ts';
import { testDeadLetters } from './inbox/dead-letters.ts';
import { testHandling, testStopping } from './inbox/handling.ts';
import { type DefineInboxTest, deliveryOf, type InboxTestOptions } from './inbox/inbox-test-context.ts';
import { testReceiving } from './inbox/receiving.ts';

/** Opens an inbox for a test, with the options that it sets. */
export type MakeInbox = (
  options: InboxTestOptions & {
    /**
     * Names the data: inboxes made with the same name share their deliveries. Each test has a name of its own. An inbox
     * without a store may ignore it.
     */
    readonly data: string;
  },
) => ManagedInbox | Promise<ManagedInbox>;

const defaults: InboxTestOptions = {
  role: 'both',
  maxAttempts: 3,
  // A busy machine may stall for a second: no lease ends by that.
  timeLimitMs: 30_000,
  concurrency: 4,
  ignoreAfterMs: 600_000,
  retry: { firstDelayMs: 10, maxDelayMs: 40 },
};

/**
 * A test suite for an inbox of your own: the rules of every inbox. If it does not handle by itself, have your
 * `make` call what handles in a loop.
 *
 * It needs no process that dies. That a lost lease is found and its deliveries tried alone is yours to test.
 *
 * @param runner the `describe` and `it` of your test runner
 * @param make is called several times a test; every inbox that it returns is stopped afterwards
 * @param options `patienceMs`: for how many milliseconds a test waits for an effect; 15000 by default
 * @example
 * ```ts
 * import { describe, it } from 'node:test';
 *
 * describeInbox({ describe, it }, ({ data, ...options }) => myInbox({ table: `inbox_${data}`, ...options }));
 * ```
 */
export function describeInbox(
  { describe, it }: TestRunner,
  make: MakeInbox,
  { patienceMs = 15_000 }: { readonly patienceMs?: number | undefined } = {},
): void {
  let durable: Promise<boolean> | undefined;

  /** Whether it says `stored`. */
  async function probe(): Promise<boolean> {
    const inbox = await make({ ...defaults, data: newName() });
    inbox.attach?.({ hasHandlers: true, handle: async () => 'handled', report: () => {} });
    const result = await inbox.receive(deliveryOf('probe'), async () => 'handled');
    await inbox.stop({ timeoutMs: 100 });
    return result === 'stored';
  }

  async function eventually(assertion: () => unknown): Promise<void> {
    const end = performance.now() + patienceMs;
    for (;;) {
      try {
        await assertion();
        return;
      } catch (error) {
        if (performance.now() > end) throw error;
      }
      await sleep(20);
    }
  }

  const test: DefineInboxTest = (name, run) => {
    it(name, async () => {
      durable ??= probe();
      const isDurable = await durable;
      const inboxes: ManagedInbox[] = [];
      const data = newName();
      const open = async (options: Partial<InboxTestOptions> = {}) => {
        const inbox = await make({ ...defaults, ...options, data });
        inboxes.push(inbox);
        return inbox;
      };
      try {
        await run({ open, durable: isDurable, eventually });
      } finally {
        await Promise.all(inboxes.map((inbox) => inbox.stop({ timeoutMs: 100 })));
      }
    });
  };

  describe('receiving', () => testReceiving(test));
  describe('handling', () => testHandling(test));
  describe('dead letters', () => testDeadLetters(test));
  describe('stopping', () => testStopping(test));
}

function newName(): string {
  return globalThis.crypto.randomUUID().replaceAll('-', '');
}
