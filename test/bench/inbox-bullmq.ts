import { Queue } from 'bullmq';
import { bullmqInbox } from '../../src/inbox/bullmq/bullmq-inbox.ts';
import { newJobData } from '../../src/inbox/bullmq/job-data.ts';
import { eachOf, perSecond, shareOf, storeNew, type TimedWork, timeDeliveriesInTurns } from './deliveries.ts';
import type { Finding, Section } from './report.ts';

/** Jobs that wait while others are stored. */
const backlogs = [0, 10_000, 50_000, 200_000];
/** Deliveries under way at a time, as from so many connections. */
const inFlight = 32;
const sampling = { count: 320, warmup: 4, rounds: 20 };

/** In % of `queue.add`: a second command says whether the delivery is new, and takes half as long again. */
const budget = 60;

/** What the inbox acknowledges, with so many jobs waiting, beside `queue.add` of the same jobs into the same queue. */
export async function benchBullmqInbox(how: string, port: number): Promise<Section> {
  const contenders: Record<string, TimedWork> = {};
  const queues: Queue[] = [];
  for (const backlog of backlogs) {
    const queue = new Queue(`waiting-${backlog}`, { connection: { host: '127.0.0.1', port } });
    queues.push(queue);
    await fill(queue, backlog);
    const inbox = bullmqInbox({ queue, role: 'receiver' });
    // Otherwise the empty one would not stay so.
    const empty = async () => {
      if (backlog === 0) await queue.drain();
    };
    contenders[`raw ${backlog}`] = async (deliveries) => {
      await empty();
      return await eachOf(deliveries, inFlight, (delivery) =>
        queue.add(delivery.name, newJobData(delivery, sampleToken), {
          ...jobOptions,
          jobId: `delivery-${delivery.digest}`,
        }),
      );
    };
    contenders[`own ${backlog}`] = async (deliveries) => {
      await empty();
      return await eachOf(deliveries, inFlight, (delivery) => storeNew(inbox, delivery));
    };
  }
  const times = await timeDeliveriesInTurns(contenders, sampling);
  await Promise.all(queues.map((queue) => queue.close()));
  const timesOf = (name: string) => times[name] ?? [];
  const findings = backlogs.flatMap((backlog): Finding[] => {
    const waiting = `${backlog.toLocaleString('en')} waiting`;
    const own = timesOf(`own ${backlog}`);
    return [
      perSecond(`${waiting}: acknowledged`, own, sampling.count),
      {
        what: `${waiting}: acknowledged / queue.add`,
        measured: shareOf(own, timesOf(`raw ${backlog}`)),
        atLeast: budget,
        unit: '%',
      },
      ...(backlog === 0 ? [] : [amongNone(waiting, own)]),
    ];
  });
  return { title: `BullMQ inbox, Redis ${how}, ${inFlight} at a time`, findings };

  function amongNone(waiting: string, own: readonly number[]): Finding {
    const measured = shareOf(own, timesOf('own 0'));
    return { what: `${waiting}: acknowledged / with none waiting`, measured, atLeast: 90, unit: '%' };
  }
}

/** Those of the inbox. */
const jobOptions = {
  attempts: 1_000_000_000,
  backoff: { type: 'inbox' },
  removeOnComplete: { age: 30 * 24 * 60 * 60 },
  removeOnFail: false,
  stackTraceLimit: 0,
};
const sampleToken = '00000000-0000-4000-8000-000000000000';

async function fill(queue: Queue, backlog: number): Promise<void> {
  const one = { name: 'waiting', data: {} };
  for (let left = backlog; left > 0; left -= 1_000) {
    await queue.addBulk(Array.from({ length: Math.min(left, 1_000) }, () => one));
  }
}
