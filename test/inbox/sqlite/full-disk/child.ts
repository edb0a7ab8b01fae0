import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteInbox } from '../../../../src/inbox/sqlite/sqlite-inbox.ts';
import { createWebhooks } from '../../../../src/webhooks/create-webhooks.ts';
import { buyInitBody } from '../../../support/bodies.ts';
import { credentials, delivery } from '../../../webhooks/deliveries.ts';

/** What became of the deliveries, printed as JSON. */
export interface FullDiskFigures {
  readonly stored: number;
  readonly refused: number;
  /** Why, each once: the status and the code. */
  readonly reasons: readonly string[];
  /** Of the stored ones, when there was room again. */
  readonly handled: number;
  readonly dead: number;
}

/** Fills the disk that its folder is on, makes room again, and waits for the rest to be handled. */

const [, , folder = ''] = process.argv;
const room = join(folder, 'room');
writeFileSync(room, Buffer.alloc(8_000_000));
// The smaller the rest, the sooner it is full.
writeFileSync(join(folder, 'others'), Buffer.alloc(16_000_000));
const handled = new Set<string>();
let isOpen = false;
const inbox = sqliteInbox({
  path: join(folder, 'inbox.sqlite'),
  pollMs: 20,
  retry: { firstDelayMs: 10, maxDelayMs: 100 },
  maxAttempts: 1000,
  onStoreError: () => {},
});
const webhooks = createWebhooks({ credentials, inbox, onError: () => {} }).onAny((_, { digest }) => {
  if (!isOpen) throw new Error('not yet');
  handled.add(digest);
});

const stored = new Set<string>();
const reasons = new Set<string>();
let refused = 0;
for (let index = 0; refused < 100; index++) {
  const body = buyInitBody({ partner_order_id: `order ${index}`, filler: 'x'.repeat(4_000) });
  const outcome = await webhooks.receive(delivery(body));
  if (outcome.kind === 'stored') stored.add(outcome.digest ?? '');
  else if (outcome.kind === 'unavailable') {
    refused++;
    reasons.add(`${outcome.status} ${Object(outcome.error).code}`);
  } else throw new Error(`It was ${outcome.kind}.`);
}

isOpen = true;
rmSync(room);
for (let tries = 0; tries < 100 && handled.size < stored.size; tries++) {
  // real time: looks again until it is there.
  await new Promise((resolve) => setTimeout(resolve, 100));
}
const figures: FullDiskFigures = {
  stored: stored.size,
  refused,
  reasons: [...reasons],
  handled: [...stored].filter((digest) => handled.has(digest)).length,
  dead: (await inbox.counts()).dead,
};
await inbox.stop();
console.log(JSON.stringify(figures));
