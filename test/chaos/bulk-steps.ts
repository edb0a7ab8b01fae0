import { sendBulk } from '../../src/bulk/send-bulk.ts';
import { isBulkError, isStoreError } from '../../src/errors/errors.ts';
import type { Step } from './steps.ts';

/** One campaign, sent by whoever is there: a second run goes on where the first one ended. */
export const sendCampaign: Step = async (world, random) => {
  const { books, simulation, campaigns } = world;
  const process = world.pick(random);
  if (process === undefined) return;
  const campaign = `campaign-${1 + Math.floor(random.fraction() * 2)}`;
  const phones = Array.from({ length: 4 }, (_, index) => `+23480${campaign.at(-1)}000000${index}`);
  if (campaigns.has(campaign)) world.sometimes('a bulk run went on in another process');
  campaigns.set(campaign, phones);
  const rows = phones.map((to_phone) => ({ to_phone, message: `News of ${campaign}`, key: to_phone }));
  try {
    await simulation.within(process.machine, async () => {
      const { messengers: messenger, store } = process;
      const run = sendBulk({ messenger, rows, store, campaign, messagesPerSecond: 2, leaseMs: 120_000 });
      for await (const { key, state } of run) simulation.log(`${campaign} ${key}: ${state}`);
    });
  } catch (error) {
    if (!isBulkError(error) && !isStoreError(error))
      books.breach(`sendBulk threw ${error instanceof Error ? error.stack : String(error)}`);
  }
};
