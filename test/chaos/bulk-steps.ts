import { sendBulk } from '../../src/bulk/send-bulk.ts';
import { isBulkError, isStoreError } from '../../src/errors/errors.ts';
import { dieAtRequest } from './order-steps.ts';
import type { PartnerProcess } from './partner-process.ts';
import { claimMs, pick } from './plan.ts';
import type { Step } from './steps.ts';
import type { World } from './world.ts';

/** One campaign, sent by whoever is there: a second run goes on where the first one ended. */
export const sendCampaign: Step = async (world, random) => {
  const { simulation, campaigns } = world;
  const process = world.pick(random);
  if (process === undefined) return;
  const campaign = `campaign-${1 + Math.floor(random.fraction() * 2)}`;
  const phones = Array.from({ length: 4 }, (_, index) => `+23480${campaign.at(-1)}000000${index}`);
  if (campaigns.has(campaign)) world.sometimes('a bulk run went on in another process');
  campaigns.set(campaign, phones);
  if (pick(random, ['goes on', 'dies']) === 'goes on') return await send(world, campaign, process);
  const { machine } = process;
  const forgetRequest = dieAtRequest(world, machine, 'sendMessage', () => random.chance(0.5));
  const forgetDeath = machine.onDeath(async () => {
    world.sometimes('a process died while it sent a campaign');
    // Somebody sees that it did not come to its end.
    await simulation.delay(claimMs(world.plan) + 70_000);
    const next = world.pick(random);
    if (next !== undefined) await send(world, campaign, next);
  });
  await send(world, campaign, process);
  forgetRequest();
  forgetDeath();
};

async function send(
  { books, simulation, campaigns, plan }: World,
  campaign: string,
  { machine, messengers: messenger, store }: PartnerProcess,
): Promise<void> {
  const phones = campaigns.get(campaign) ?? [];
  const rows = phones.map((to_phone) => ({ to_phone, message: `News of ${campaign}`, key: to_phone }));
  try {
    await simulation.within(machine, async () => {
      const run = sendBulk({
        messenger,
        rows,
        store,
        campaign,
        messagesPerSecond: 2,
        leaseMs: claimMs(plan),
      });
      for await (const { key, state } of run) simulation.log(`${campaign} ${key}: ${state}`);
    });
  } catch (error) {
    if (!isBulkError(error) && !isStoreError(error))
      books.breach(`sendBulk threw ${error instanceof Error ? error.stack : String(error)}`);
  }
}
