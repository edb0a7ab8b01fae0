import { randomUUID } from 'node:crypto';
import { Queue } from 'bullmq';
import { bullmqInbox } from '../../src/inbox/bullmq/bullmq-inbox.ts';
import type { Delivery } from '../../src/inbox/inbox.ts';
import { writeDelivery } from '../../src/inbox/stored-delivery.ts';
import {
  eachOf,
  type InboxSection,
  perSecond,
  rateOf,
  shareOf,
  storeNew,
  type TimedWork,
  timeDeliveriesInTurns,
} from './deliveries.ts';
import { median } from './measure.ts';
import type { Finding } from './report.ts';

/** Jobs that wait while others are stored. */
const backlogs = [0, 1_000, 10_000, 200_000];
/** Deliveries under way at a time, as from so many connections. */
const inFlight = 32;
/** The same with few and many, and none waiting. */
const otherInFlight = [1, 256];
const sampling = { count: 512, warmup: 4, rounds: 20 };

/** In % of `queue.add`, for deliveries that come beside others. */
const budget = 90;

/** What the inbox acknowledges, with so many jobs waiting, beside `queue.add` of the same jobs into the same queue. */
export async function benchBullmqInbox(how: string, port: number): Promise<InboxSection> {
  const contenders: Record<string, TimedWork> = {};
  const queues: Queue[] = [];
  for (const backlog of backlogs) {
    const queue = new Queue(`waiting-${backlog}`, { connection: { host: '127.0.0.1', port } });
    queues.push(queue);
    await fill(queue, backlog);
    const inbox = bullmqInbox({ queue, role: 'receiver' });
    const each =
      (atOnce: number, one: (delivery: Delivery) => Promise<unknown>): TimedWork =>
      async (deliveries) => {
        // Otherwise the empty one would not stay so.
        if (backlog === 0) await queue.drain();
        return await eachOf(deliveries, atOnce, one);
      };
    const raw = (delivery: Delivery) =>
      queue.add(delivery.name, writeDelivery(delivery), {
        ...jobOptions,
        jobId: randomUUID(),
        deduplication: { id: delivery.digest, ttl: tenYearsMs },
      });
    const byId = (delivery: Delivery) =>
      queue.add(delivery.name, writeDelivery(delivery), { ...jobOptions, jobId: `d-${delivery.digest}` });
    const own = (delivery: Delivery) => storeNew(inbox, delivery);
    for (const atOnce of backlog === 0 ? [inFlight, ...otherInFlight] : [inFlight]) {
      contenders[`raw ${backlog} ${atOnce}`] = each(atOnce, raw);
      contenders[`own ${backlog} ${atOnce}`] = each(atOnce, own);
    }
    if (backlog === 0) contenders['by id'] = each(inFlight, byId);
  }
  const times = await timeDeliveriesInTurns(contenders, sampling);
  await Promise.all(queues.map((queue) => queue.close()));
  const timesOf = (name: string) => times[name] ?? [];
  const findings = [
    ...backlogs.flatMap((backlog) => {
      const waiting = `${backlog.toLocaleString('en')} waiting`;
      return [
        ...besideAdd(waiting, `${backlog} ${inFlight}`, budget),
        ...(backlog === 0 ? [withoutDeduplication(waiting)] : [amongNone(waiting, backlog)]),
      ];
    }),
    ...otherInFlight.flatMap((atOnce) =>
      besideAdd(`${atOnce} at a time`, `0 ${atOnce}`, atOnce === 1 ? undefined : budget),
    ),
  ];
  const rate = (name: string) => rateOf(timesOf(`${name} 0 ${inFlight}`), sampling.count);
  const points = (name: string) =>
    backlogs
      .filter((backlog) => backlog > 0)
      .map((backlog) => {
        const ms = median(timesOf(`${name} ${backlog} ${inFlight}`));
        return [backlog, (ms * 1000) / sampling.count] as const;
      });
  return {
    title: `BullMQ inbox, Redis ${how}, ${inFlight} at a time`,
    findings,
    rates: [
      { label: 'BullMQ queue.add', value: rate('raw') },
      { label: 'bullmqInbox', value: rate('own'), own: true },
    ],
    byBacklog: [
      { label: 'bullmqInbox', own: true, points: points('own') },
      { label: 'BullMQ queue.add', points: points('raw') },
    ],
  };

  function besideAdd(when: string, contender: string, atLeast: number | undefined): Finding[] {
    const own = timesOf(`own ${contender}`);
    const measured = shareOf(own, timesOf(`raw ${contender}`));
    return [
      perSecond(`${when}: acknowledged`, own, sampling.count),
      { what: `${when}: acknowledged / queue.add`, measured, atLeast, unit: '%' },
    ];
  }

  /** What it costs that BullMQ says whether a delivery is new. */
  function withoutDeduplication(when: string): Finding {
    const measured = shareOf(timesOf(`own 0 ${inFlight}`), timesOf('by id'));
    return { what: `${when}: acknowledged / queue.add without deduplication`, measured, unit: '%' };
  }

  function amongNone(when: string, backlog: number): Finding {
    const measured = shareOf(timesOf(`own ${backlog} ${inFlight}`), timesOf(`own 0 ${inFlight}`));
    return { what: `${when}: acknowledged / with none waiting`, measured, atLeast: 90, unit: '%' };
  }
}

/** Those of the inbox. */
const jobOptions = {
  attempts: 1_000_000_000,
  backoff: { type: 'inbox' },
  removeOnComplete: true,
  removeOnFail: false,
  stackTraceLimit: 0,
};
const tenYearsMs = 10 * 365 * 24 * 60 * 60 * 1000;

async function fill(queue: Queue, backlog: number): Promise<void> {
  const one = { name: 'waiting', data: {} };
  for (let left = backlog; left > 0; left -= 1_000) {
    await queue.addBulk(Array.from({ length: Math.min(left, 1_000) }, () => one));
  }
}
