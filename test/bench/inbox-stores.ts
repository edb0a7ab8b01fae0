import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { eachOf, makeDeliveries, perSecond, shareOf, storeNew, timeDeliveriesInTurns } from './deliveries.ts';
import type { Section } from './report.ts';

/** Deliveries under way at a time, as from so many connections. */
const inFlight = 32;
const concurrency = 50;
/** Deliveries that wait while others are stored. */
const backlogs = [1_000, 10_000];
const sampling = { count: 256, warmup: 2, rounds: 10 };

/** What the inbox over a record store acknowledges and handles, beside a transaction that sets one record of the same size. */
export async function benchStoreInbox(how: string, store: RecordStore): Promise<Section> {
  const receiver = (prefix?: string) => storeInbox({ store, role: 'receiver', prefix });
  const inbox = receiver();
  const among: Record<string, (deliveries: Deliveries) => Promise<number>> = {};
  for (const backlog of backlogs) {
    const waiting = receiver(`waiting-${backlog}/`);
    const store = (deliveries: Deliveries) =>
      eachOf(deliveries, inFlight, (delivery) => storeNew(waiting, delivery));
    await store(makeDeliveries(backlog));
    among[backlog] = store;
  }
  const storing = await timeDeliveriesInTurns(
    {
      raw: (deliveries) =>
        eachOf(deliveries, inFlight, (delivery) => {
          // Sound: it is JSON data.
          const value = { ...delivery } as unknown as JsonObject;
          return store.transact([`raw/${delivery.digest}`], (records) => {
            if (records.get(`raw/${delivery.digest}`) === undefined)
              records.set(`raw/${delivery.digest}`, value);
          });
        }),
      own: (deliveries) => eachOf(deliveries, inFlight, (delivery) => storeNew(inbox, delivery)),
      ...among,
    },
    sampling,
  );
  const handling = await timeDeliveriesInTurns(
    { own: (deliveries) => drainAll(store, deliveries) },
    sampling,
  );
  const timesAmong = (backlog: number) =>
    Object.entries(storing).find(([name]) => name === `${backlog}`)?.[1] ?? [];
  return {
    title: `inbox over ${how}, ${inFlight} at a time`,
    findings: [
      perSecond('acknowledged', storing.own, sampling.count),
      {
        what: 'acknowledged / transact of one record',
        measured: shareOf(storing.own, storing.raw),
        unit: '%',
      },
      ...backlogs.map((backlog) => ({
        what: `${backlog.toLocaleString('en')} waiting: acknowledged / with few waiting`,
        measured: shareOf(timesAmong(backlog), storing.own),
        unit: '%' as const,
      })),
      perSecond(`handled by drain, ${concurrency} at a time`, handling.own, sampling.count),
    ],
  };
}

type Deliveries = Parameters<typeof eachOf>[0];

async function drainAll(store: RecordStore, deliveries: Deliveries): Promise<number> {
  const inbox = storeInbox({ store, role: 'drain', prefix: 'drained/', concurrency });
  inbox.attach?.({ hasHandlers: true, handle: async () => 'handled', report: () => {} });
  await eachOf(deliveries, inFlight, (delivery) => storeNew(inbox, delivery));
  const begun = performance.now();
  const { handled } = await inbox.drain();
  if (handled !== deliveries.length) throw new Error(`Only ${handled} were handled.`);
  return performance.now() - begun;
}
