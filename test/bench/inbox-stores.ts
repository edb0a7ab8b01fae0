import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import { writeDelivery } from '../../src/inbox/stored-delivery.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { openStore } from '../store/open-store.ts';
import { eachOf, perSecond, shareOf, storeNew, timeDeliveriesInTurns } from './deliveries.ts';
import type { Section } from './report.ts';

/** Deliveries under way at a time, as from so many connections. */
const inFlight = 32;
const concurrency = 50;
const sampling = { count: 256, warmup: 2, rounds: 10 };

/** What the inbox over a record store acknowledges and handles, beside a transaction that sets one record of the same size. */
export async function benchStoreInbox(how: string, engine: string, address: string): Promise<Section> {
  const { store, close } = await openStore(engine, address, 'bench');
  const inbox = storeInbox({ store, role: 'receiver' });
  const storing = await timeDeliveriesInTurns(
    {
      raw: (deliveries) =>
        eachOf(deliveries, inFlight, (delivery) => {
          // Sound: it is JSON data.
          const value = writeDelivery(delivery) as JsonObject;
          return store.transact([`raw/${delivery.digest}`], (records) => {
            if (records.get(`raw/${delivery.digest}`) === undefined)
              records.set(`raw/${delivery.digest}`, value);
          });
        }),
      own: (deliveries) => eachOf(deliveries, inFlight, (delivery) => storeNew(inbox, delivery)),
    },
    sampling,
  );
  const handling = await timeDeliveriesInTurns(
    { own: (deliveries) => drainAll(store, deliveries) },
    sampling,
  );
  await close();
  return {
    title: `inbox over ${how}, ${inFlight} at a time`,
    findings: [
      perSecond('acknowledged', storing.own, sampling.count),
      {
        what: 'acknowledged / transact of one record',
        measured: shareOf(storing.own, storing.raw),
        unit: '%',
      },
      perSecond(`handled by drain, ${concurrency} at a time`, handling.own, sampling.count),
    ],
  };
}

async function drainAll(store: RecordStore, deliveries: Parameters<typeof eachOf>[0]): Promise<number> {
  const inbox = storeInbox({ store, prefix: 'drained/', concurrency });
  inbox.attach?.({ handle: async () => {}, report: () => {} });
  await eachOf(deliveries, inFlight, (delivery) => storeNew(inbox, delivery));
  const begun = performance.now();
  const { handled } = await inbox.drain();
  if (handled !== deliveries.length) throw new Error(`Only ${handled} were handled.`);
  return performance.now() - begun;
}
