import { statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteInbox } from '../../../../src/inbox/sqlite/sqlite-inbox.ts';
import { createWebhooks } from '../../../../src/webhooks/create-webhooks.ts';
import { buyInitBody, orderKey } from '../../../support/bodies.ts';
import { delivery } from '../../../webhooks/deliveries.ts';

/** What became of the deliveries, printed as JSON, while the disk stayed full. */
export interface FullToTheEndFigures {
  /** One for each round of deliveries. */
  readonly rounds: readonly { readonly stored: number; readonly handled: number; readonly open: number }[];
  /** How often a delivery was handled that had been handled before. */
  readonly repeated: number;
  readonly storeErrors: number;
  /** What is left of the disk, in kB. */
  readonly freeKb: number;
}

/**
 * Fills the disk that its folder is on with deliveries, and then lets them be handled. Nobody makes room. Three times,
 * since the room that was handled has to be taken again.
 */

const [, , folder = '', bodyBytes = '0'] = process.argv;
writeFileSync(join(folder, 'others'), Buffer.alloc(20_000_000));
const handled = new Map<string, number>();
let isOpen = false;
let storeErrors = 0;
const inbox = sqliteInbox({
  path: join(folder, 'inbox.sqlite'),
  pollMs: 20,
  retry: { firstDelayMs: 10, maxDelayMs: 100 },
  maxAttempts: 1_000,
  onStoreError: () => storeErrors++,
});
const webhooks = createWebhooks({ keys: [orderKey], inbox, onError: () => {} }).onAny((_, { digest }) => {
  if (!isOpen) throw new Error('not yet');
  handled.set(digest, (handled.get(digest) ?? 0) + 1);
});

let index = 0;
async function round() {
  isOpen = false;
  const stored = new Set<string>();
  for (let refused = 0; refused < 20; ) {
    // Ten at a time are stored in one transaction.
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () =>
        webhooks.receive(
          delivery(
            buyInitBody({ partner_order_id: `order ${index++}`, filler: 'x'.repeat(Number(bodyBytes)) }),
          ),
        ),
      ),
    );
    for (const outcome of outcomes) {
      if (outcome.kind === 'stored') stored.add(outcome.digest);
      else if (outcome.kind === 'unavailable' && Object(outcome.error).code === 'store_full') refused++;
      else throw new Error(`It was ${outcome.kind}.`);
    }
  }
  isOpen = true;
  for (let tries = 0; tries < 100 && (await inbox.counts()).open > 0; tries++) {
    // real time: looks again until it is there.
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    stored: stored.size,
    handled: [...stored].filter((digest) => handled.has(digest)).length,
    open: (await inbox.counts()).open,
  };
}

const rounds = [await round(), await round(), await round()];
const { bavail, bsize } = statfsSync(folder);
const figures: FullToTheEndFigures = {
  rounds,
  repeated: [...handled.values()].filter((times) => times > 1).length,
  storeErrors,
  freeKb: Math.round((bavail * bsize) / 1000),
};
await inbox.stop();
console.log(JSON.stringify(figures));
