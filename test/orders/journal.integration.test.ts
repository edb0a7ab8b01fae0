import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { storeKinds } from '../store/store-kinds.ts';
import { buyInitBody } from '../support/bodies.ts';
import { listening } from '../support/listening.ts';
import { rejected } from '../support/refusal.ts';
import { bench, credentials, errorOf, event, idsOf, named, order } from './service.ts';
import { loopOf } from './stepped-loop.ts';

describe.each(storeKinds())('two processes with one journal, over $name,', ({ open }) => {
  it('make one request for each order, whichever creates it or finds it in its loop', async () => {
    const { journal, service, another, clock } = bench({}, open);
    const ids = Array.from({ length: 10 }, (_, index) => `A-${index}`);
    for (const id of ids.slice(0, 5)) await journal.prepare(named(id));
    clock.now += 1_000;
    const loops = [loopOf(journal), loopOf(another())];
    const processes = [journal, another()];
    const created = processes.flatMap(({ create }) => ids.map((id) => create(named(id))));
    for (const { state } of await Promise.all(created)) expect(['accepted', 'sending']).toContain(state);
    await Promise.all(loops.map(({ pass }) => pass()));
    await Promise.all(loops.map(({ loop }) => loop.stop()));
    expect(service.requests.toSorted()).toEqual(ids);
    expect(await journal.unsettled()).toEqual([]);
  });

  it('know of an order what the other one has seen, until it is settled', async () => {
    const { journal, service, another, clock } = bench({ onMismatch: () => {} }, open);
    const other = another();
    service.next.push('lost', 'lost', 'not-sent', 'ok');
    for (const id of ['event', 'person', 'not-sent', 'silent']) {
      await journal.create(named(id));
      clock.now += 1;
    }
    expect(await errorOf(other.create(named('event')))).toMatchObject({ code: 'outcome_unknown' });
    clock.now += 3_600_000;
    expect((await other.unsettled()).map(({ partner_order_id: id, state }) => [id, state])).toEqual([
      ...[
        ['event', 'unknown'],
        ['person', 'unknown'],
        ['not-sent', 'not-sent'],
        ['silent', 'accepted'],
      ],
    ]);
    const moved = buyInitBody({ partner_order_id: 'event', buyer_crypto_address: 'elsewhere' });
    expect(await rejected(other.observe(moved, { digest: 'd' }))).toMatchObject({ code: 'order_mismatch' });
    expect(await journal.health()).toMatchObject({ unsettled: 2, withoutEvent: 1, mismatches: 1 });
    expect(await idsOf(journal.list({ attention: true }))).toEqual(['event']);
    await journal.settle('event', 'rejected', 'Not ours.', { events: ['d'] });
    await other.settle('person', 'abandoned', 'The service has none.');
    await other.create(named('not-sent'));
    for (const id of ['silent', 'not-sent']) await other.observe(event(id));
    expect(await journal.unsettled()).toEqual([]);
    expect(service.requests).toEqual(['event', 'person', 'silent', 'not-sent']);
    expect((await idsOf(journal.list())).toSorted()).toEqual(['event', 'not-sent', 'person', 'silent']);
    expect(await idsOf(journal.reconcile({ since: 0 }))).toEqual([]);
  });
});

it('a request does not leave when its process was suspended while the connection was made', async () => {
  const { store, another, clock } = bench();
  let bytes = 0;
  const server = createServer((socket) => {
    socket.on('data', ({ length }) => {
      bytes += length;
    });
    socket.on('error', () => {});
  });
  onTestFinished(() => void server.close());
  const exchange = new ExchangeClient({
    deployment: defineDeployment({ onboardingBaseUrl: await listening(server) }),
    credentials,
    fetch: async (request) => {
      // As if the connection had taken as long as the lease.
      clock.now += 120_000;
      await another().settle('A-1001', 'abandoned', 'The service has none.');
      return await fetch(request);
    },
  });
  const journal = another({ exchange, store });
  expect(await errorOf(journal.create(order))).toMatchObject({ code: 'timeout', outcome: 'not-sent' });
  expect(bytes).toBe(0);
  expect(await journal.get('A-1001')).toMatchObject({ state: 'abandoned' });
});
