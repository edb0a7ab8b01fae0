import { readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteInbox } from '../../../../src/inbox/sqlite/sqlite-inbox.ts';
import { createWebhooks } from '../../../../src/webhooks/create-webhooks.ts';
import { buyInitBody, orderKey } from '../../../support/bodies.ts';
import { delivery } from '../../../webhooks/deliveries.ts';

/** The result of the deliveries, printed as JSON. */
export interface FullForAWhileFigures {
  readonly stored: number;
  readonly handled: number;
  readonly open: number;
  readonly dead: number;
  /** Handlers that began while the disk was full. */
  readonly begunWhileFull: number;
  /** Deliveries that were handled more than once. */
  readonly repeated: number;
}

/**
 * Stores deliveries, has other programs fill the disk and keep it full for longer than a lease lasts, then makes room.
 * Arguments: the folder, and how many handlers are running when the disk gets full.
 */

const [, , folder = '', running = '0'] = process.argv;
const handled = new Map<string, number>();
let isFull = false;
let begunWhileFull = 0;
let begun = 0;
const someRun = Promise.withResolvers<void>();
const full = Promise.withResolvers<void>();
const inbox = sqliteInbox({
  path: join(folder, 'inbox.sqlite'),
  concurrency: Math.max(1, Number(running)),
  pollMs: 20,
  timeLimitMs: 1_000,
  maxAttempts: 1_000,
  onStoreError: () => {},
});
const webhooks = createWebhooks({ keys: [orderKey], inbox, onError: () => {} });
/** Without a handler nothing begins. */
const startHandling = () =>
  webhooks.onAny(async (_, { digest }) => {
    if (isFull) begunWhileFull++;
    if (++begun === Number(running)) someRun.resolve();
    await full.promise;
    handled.set(digest, (handled.get(digest) ?? 0) + 1);
  });

/** Takes all room that is left. */
function fillDisk(): void {
  for (let { bavail, bsize } = statfsSync(folder); bavail > 0; { bavail } = statfsSync(folder)) {
    const name = join(folder, `others-${readdirSync(folder).length}`);
    writeFileSync(name, Buffer.alloc(bavail * bsize));
  }
}

const stored = new Set<string>();
for (let index = 0; index < 300; index++) {
  const body = buyInitBody({ partner_order_id: `order ${index}`, filler: 'x'.repeat(4_000) });
  const outcome = await webhooks.receive(delivery(body));
  if (outcome.kind === 'stored') stored.add(outcome.digest);
}
if (Number(running) > 0) {
  startHandling();
  await someRun.promise;
}
fillDisk();
isFull = true;
full.resolve();
if (Number(running) === 0) startHandling();
const fullUntil = performance.now() + 8_000;
while (performance.now() < fullUntil) {
  fillDisk();
  // real time: the lease of a handler that began ends meanwhile.
  await new Promise((resolve) => setTimeout(resolve, 1));
}
for (const name of readdirSync(folder)) if (name.startsWith('others-')) rmSync(join(folder, name));
isFull = false;
for (let tries = 0; tries < 600 && (await inbox.counts()).open > 0; tries++) {
  // real time: looks again until it is there.
  await new Promise((resolve) => setTimeout(resolve, 100));
}
const { open: left, dead } = await inbox.counts();
const figures: FullForAWhileFigures = {
  stored: stored.size,
  handled: [...stored].filter((digest) => handled.has(digest)).length,
  open: left,
  dead,
  begunWhileFull,
  repeated: [...handled.values()].filter((times) => times > 1).length,
};
await inbox.stop();
console.log(JSON.stringify(figures));
