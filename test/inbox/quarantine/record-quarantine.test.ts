import { describe, expect, it } from 'vitest';
import type { KeptBody } from '../../../src/inbox/quarantine/quarantine.ts';
import { all, bodiesOf, day, setUp } from './quarantine-for-tests.ts';

describe('the quarantine of a record store', () => {
  it('keeps bodies in the order of their arrival, for every process', async () => {
    const { keep, clock, open } = setUp();
    for (const body of ['third', 'first', 'second']) {
      expect(await keep(body)).toBe('kept');
      clock.time += 1;
    }
    expect(bodiesOf(await open().list(all))).toEqual(['third', 'first', 'second']);
    expect(await open().count()).toBe(3);
  });

  it('keeps equal bytes once, and each text for the partners whose keys were tried', async () => {
    const { keep, clock, quarantine } = setUp();
    expect(await keep('same')).toBe('kept');
    clock.time += 1;
    expect([await keep('same'), await keep('same', '07')]).toEqual(['known', 'known']);
    expect(await keep('same', '00', 'other partner')).toBe('kept');
    expect(await quarantine.count()).toBe(2);
  });

  it('is bounded in all, and does not keep the newest when it is full', async () => {
    const { keep, quarantine } = setUp({ maxQuarantined: 4 });
    for (const share of ['01', '02', '03', '04']) expect(await keep(`body ${share}`, share)).toBe('kept');
    expect(await keep('newest', '05')).toBe('full');
    expect([await quarantine.count(), bodiesOf(await quarantine.list(all)).includes('newest')]).toEqual([
      4,
      false,
    ]);
  });

  it('gives one claimed partner half of the room, so that the others have theirs', async () => {
    const { keep } = setUp({ maxQuarantined: 10 });
    for (let count = 0; count < 5; count++) expect(await keep(`flood ${count}`, '01')).toBe('kept');
    expect([await keep('flood 5', '01'), await keep('body', '02')]).toEqual(['full', 'kept']);
  });

  it('is bounded in bytes, whatever the size of a body', async () => {
    const { keep } = setUp({ maxQuarantined: 100 });
    const large = (name: string) => name.repeat(65_000);
    expect([await keep(large('a')), await keep(large('b')), await keep(large('c'))]).toEqual([
      'kept',
      'kept',
      'kept',
    ]);
    expect([await keep(large('d')), await keep('small')]).toEqual(['full', 'kept']);
  });

  it('has room again for what was removed, and holds nothing of it', async () => {
    const { keep, clock, quarantine, store } = setUp({ maxQuarantined: 2 });
    await keep('marker', '01');
    clock.time += 1;
    await keep('other', '02');
    const [first] = await quarantine.list(all);
    // The same once more, as of two processes.
    for (let count = 0; count < 2; count++) await quarantine.remove([first?.id ?? '']);
    expect(bodiesOf(await quarantine.list(all))).toEqual(['other']);
    expect(JSON.stringify(await store.list({ prefix: '', limit: 1000 }))).not.toContain('marker');
    expect([await keep('next', '01'), await keep('over', '03')]).toEqual(['kept', 'full']);
  });

  it('forgets bodies after quarantineMs, and has room for others then', async () => {
    const { keep, clock, quarantine, store } = setUp({ maxQuarantined: 2 });
    await keep('old', '01');
    clock.time += day / 2;
    await keep('newer', '02');
    expect(await keep('over', '03')).toBe('full');
    clock.time += day / 2;
    expect(bodiesOf(await quarantine.list(all))).toEqual(['newer']);
    clock.time += day / 2;
    expect([await quarantine.list(all), await store.list({ prefix: '', limit: 10 })]).toEqual([[], []]);
  });

  it('has room for others as soon as old bodies have expired, though newer ones are kept', async () => {
    const { keep, clock } = setUp({ maxQuarantined: 2 });
    await keep('old', '01');
    clock.time += day / 2;
    await keep('newer', '02');
    clock.time += day / 2;
    expect(await keep('next', '03')).toBe('kept');
  });

  it('has no body listed in vain after a process whose clock was a day ahead has kept it again', async () => {
    const { keep, clock, quarantine } = setUp({ maxQuarantined: 2_000 });
    const bodies = Array.from({ length: 310 }, (_, count) => `body ${count}`);
    for (const body of bodies) await keep(body, body.slice(-1).padStart(2, '0'));
    clock.time += day;
    for (const body of bodies) await keep(body, body.slice(-1).padStart(2, '0'));
    clock.time -= day;
    // The first page has leftovers alone, the second one ten of them.
    const found = await quarantine.list(all);
    expect(found.length).toBe(290);
    await quarantine.remove(found.map(({ id }) => id));
    const [next] = await quarantine.list(all);
    expect([await quarantine.count(), bodies.includes(next?.body ?? '')]).toEqual([20, true]);
  });

  it('lists page by page, and removes more bodies than one transaction takes', async () => {
    const { keep, clock, quarantine } = setUp({ maxQuarantined: 2_000 });
    for (let count = 0; count < 700; count++) {
      clock.time += 1;
      await keep(`body ${count}`, String(count % 100));
    }
    const found: KeptBody[] = [];
    for (;;) {
      const page = await quarantine.list({ after: found.at(-1)?.id, limit: 300 });
      if (page.length === 0) break;
      found.push(...page);
    }
    expect(bodiesOf(found)).toEqual(Array.from({ length: 700 }, (_, index) => `body ${index}`));
    await quarantine.remove(found.map(({ id }) => id));
    expect(await quarantine.count()).toBe(0);
  });
});
