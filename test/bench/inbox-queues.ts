import { queueInbox } from '../../src/inbox/queue/queue-inbox.ts';
import { writeMessage } from '../../src/inbox/queue/queue-message.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { openQueue, type QueueName } from '../inbox/queue/queues.ts';
import { eachOf, perSecond, shareOf, timeDeliveriesInTurns } from './deliveries.ts';
import type { Section } from './report.ts';

/** Deliveries under way at a time, as from so many connections. */
const inFlight = 32;
const sampling = { count: 256, warmup: 2, rounds: 10 };

/** What an inbox over a queue acknowledges, beside the bare queue given the same messages. */
export async function benchQueueInbox(how: string, name: QueueName, url: string): Promise<Section> {
  const queue = await openQueue(name, url, 'bench');
  const inboxes = {
    own: queueInbox({ send: queue.send, role: 'receiver' }),
    guarded: queueInbox({ send: queue.send, role: 'receiver', store: memoryStore() }),
  };
  const receive =
    (inbox: (typeof inboxes)['own']) =>
    (deliveries: Parameters<typeof eachOf>[0]): Promise<number> =>
      eachOf(deliveries, inFlight, (delivery) => inbox.receive(delivery, async () => 'handled'));
  const times = await timeDeliveriesInTurns(
    {
      raw: (deliveries) =>
        eachOf(deliveries, inFlight, (delivery) => queue.send(writeMessage(delivery, Date.now()))),
      own: receive(inboxes.own),
      guarded: receive(inboxes.guarded),
    },
    sampling,
  );
  await queue.close();
  return {
    title: `inbox over ${how}, ${inFlight} at a time`,
    findings: [
      perSecond('acknowledged', times.own, sampling.count),
      { what: 'acknowledged / the bare queue', measured: shareOf(times.own, times.raw), unit: '%' },
      {
        what: 'acknowledged with a memoryStore / the bare queue',
        measured: shareOf(times.guarded, times.raw),
        unit: '%',
      },
    ],
  };
}
