import { describe, expect, it } from 'vitest';
import { storeKinds } from '../store/store-kinds.ts';
import { bench, named } from './service.ts';
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
});
