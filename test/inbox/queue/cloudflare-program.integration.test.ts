import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { eventBody } from '../../../src/devtools/testing/event-body.ts';
import { signedDelivery } from '../../../src/devtools/testing/signed-delivery.ts';
import { root } from '../../../tools/checks/entries.ts';
import { entrySource } from '../../../tools/entry-source.ts';

const page = 'docs/guides/inboxes.md';
const credentials = {
  partnerPublicKey: 'pk_partner_test',
  partnerSecretKey: 'sk_partner_test',
  merchantSecretKey: 'sk_merchant_test',
};

interface Message {
  readonly body: unknown;
  readonly attempts: number;
  readonly dueAt: number;
}

interface Worker {
  fetch(request: Request, env: object): Promise<Response>;
  queue(batch: object, env: object): Promise<void>;
}

/** The example, as it is. */
async function loadWorker(): Promise<Worker> {
  const code = readFileSync(join(root, 'examples/queues/cloudflare.ts'), 'utf8');
  const script = stripTypeScriptTypes(code).replaceAll(
    /'partner-exchange-sdk(\/[\w/-]+)'/g,
    (_, entry: string) => JSON.stringify(pathToFileURL(join(root, entrySource(`.${entry}`, root))).href),
  );
  const folder = join(root, 'node_modules/.cache/programs');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'cloudflare.mjs');
  writeFileSync(file, script);
  return (await import(/* @vite-ignore */ pathToFileURL(file).href)).default;
}

/** A setting of the consumer, as the page says. */
function settingOf(name: string): number {
  const text = readFileSync(join(root, page), 'utf8');
  return Number(new RegExp(`\`${name}\` to (\\d+)`).exec(text)?.[1] ?? expect.unreachable(name));
}

/** A queue with its settings from the page, on a clock of its own: what neither is acknowledged nor retried comes again. */
async function makeQueue() {
  const worker = await loadWorker();
  const [maxRetries, retryDelayMs] = [settingOf('max_retries'), settingOf('retry_delay') * 1_000];
  const credited = new Set<string>();
  let messages: Message[] = [];
  let now = 0;
  let asked = 0;
  let dead = 0;
  let isAway = (): boolean => false;
  let isKilled = (): boolean => false;
  const env = {
    PARTNER_PUBLIC_KEY: credentials.partnerPublicKey,
    PARTNER_SECRET_KEY: credentials.partnerSecretKey,
    MERCHANT_SECRET_KEY: credentials.merchantSecretKey,
    EVENTS: {
      async send(body: unknown) {
        if (isAway()) throw new Error('the queue is away');
        messages.push({ body: structuredClone(body), attempts: 1, dueAt: now });
      },
    },
    ACCOUNTS: {
      async fetch(_url: string, { headers }: { headers: Record<string, string> }) {
        asked++;
        if (isAway()) return new Response(null, { status: 503 });
        credited.add(headers['idempotency-key'] ?? '');
        return new Response(null, { status: 204 });
      },
    },
  };

  function again(message: Message): Message[] {
    if (message.attempts > maxRetries) dead++;
    return message.attempts > maxRetries
      ? []
      : [{ ...message, attempts: message.attempts + 1, dueAt: now + retryDelayMs }];
  }

  return {
    credited,
    asked: () => asked,
    dead: () => dead,
    fail(away: () => boolean, killed: () => boolean = () => false) {
      isAway = away;
      isKilled = killed;
    },
    now: () => now,
    async post(id: string): Promise<number> {
      const body = eventBody('event.buy.credited.crypto', { partner_order_id: id });
      const init = { method: 'POST', ...signedDelivery(body, { credentials }) };
      return (await worker.fetch(new Request('https://worker.example/', init), env)).status;
    },
    /** Hands out what is due, in batches of ten, and lets a second pass, until nothing waits. */
    async run() {
      for (let seconds = 0; messages.length > 0 && seconds < 600; seconds++, now += 1_000) {
        const due = messages.filter(({ dueAt }) => dueAt <= now);
        messages = messages.filter(({ dueAt }) => dueAt > now);
        while (due.length > 0) {
          const batch = due.splice(0, 10);
          const answered = new Map<Message, 'ack' | 'retry'>();
          const given = batch.map((message) => ({
            ...message,
            ack: () => void answered.set(message, 'ack'),
            retry: () => void answered.set(message, 'retry'),
          }));
          await worker.queue({ messages: given }, env);
          if (isKilled()) answered.clear();
          messages.push(...batch.filter((each) => answered.get(each) !== 'ack').flatMap(again));
        }
      }
    },
  };
}

// The errors of an outage.
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

// Workers' own runtime runs the program in test/runtimes; here its queue and its clock are models.
describe('the example for Cloudflare Queues', () => {
  it('handles all that it acknowledged, and makes no dead letter, while the accounts are away for ten seconds', async () => {
    const queue = await makeQueue();
    for (let count = 0; count < 25; count++) expect(await queue.post(`A-${count}`)).toBe(200);
    queue.fail(() => queue.now() < 10_000);
    await queue.run();
    expect([queue.credited.size, queue.dead()]).toEqual([25, 0]);
    // No busy loop: each of them is tried once more.
    expect(queue.asked()).toBeLessThanOrEqual(50);
  });

  it('answers 503 while the queue takes nothing, and never 200', async () => {
    const queue = await makeQueue();
    queue.fail(() => true);
    expect([await queue.post('A-1'), await queue.post('A-2')]).toEqual([503, 503]);
    queue.fail(() => false);
    expect(await queue.post('A-1')).toBe(200);
  });
});
