import type { TestRunner } from '../../../src/devtools/testing/describe-record-store.ts';
import type { ManagedInbox } from '../../../src/inbox/inbox.ts';
import { sleep } from '../../../src/internal/backoff.ts';
import { testDeadLetters } from './dead-letters.ts';
import { testHandling, testStopping } from './handling.ts';
import { type DefineInboxTest, deliveryOf, type InboxTestOptions } from './inbox-test-context.ts';
import { testReceiving } from './receiving.ts';

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
 * Tests the rules of every inbox. Of one that does not handle by itself, `make` calls what handles in a loop.
 *
 * No process dies in it: other tests show that a lost lease is found, and its deliveries tried alone.
 *
 * @param runner the `describe` and `it` of the test runner
 * @param make is called several times a test; every inbox that it returns is stopped afterwards
 * @param options `patienceMs`: for how many milliseconds a test waits for an effect; 15000 by default
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
    // real time: its one delivery is stored or handled by then.
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
      // real time: looks again until it is there.
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
        // real time: nothing that a test waits for runs by then.
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
