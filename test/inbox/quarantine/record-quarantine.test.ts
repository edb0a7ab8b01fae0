import { describe, expect, it } from 'vitest';
import type { UnverifiedText } from '../../../src/inbox/quarantine/quarantine.ts';
import { all, bodiesOf, day, setUp } from './quarantine-for-tests.ts';

describe('the quarantine of a record store', () => {
  it('keeps equal bytes once, and each text for the partners whose keys were tried', async () => {
    const { keep, clock, quarantine } = setUp();
    expect(await keep('same')).toBe('kept');
    clock.time += 1;
    expect(await keep('same')).toBe('known');
    expect(await keep('same', 'other partner')).toBe('kept');
    expect(await quarantine.count()).toBe(2);
  });

  it('is bounded in all, and does not keep the newest when it is full', async () => {
    const { keep, quarantine } = setUp({ maxQuarantined: 4 });
    for (let count = 0; count < 4; count++) expect(await keep(`body ${count}`)).toBe('kept');
    expect(await keep('newest')).toBe('full');
    expect([await quarantine.count(), bodiesOf(await quarantine.list(all)).includes('newest')]).toEqual([
      4,
      false,
    ]);
  });

  it('has room again for what was removed, and holds nothing of it', async () => {
    const { keep, clock, quarantine, store } = setUp({ maxQuarantined: 2 });
    await keep('marker');
    clock.time += 1;
    await keep('other');
    const first = (await quarantine.list(all)).find(({ body }) => body === 'marker');
    // The same once more, as of two processes.
    for (let count = 0; count < 2; count++) await quarantine.remove([first?.digest ?? '']);
    expect(bodiesOf(await quarantine.list(all))).toEqual(['other']);
    expect(JSON.stringify(await store.list({ prefix: '', limit: 1000 }))).not.toContain('marker');
    expect([await keep('next'), await keep('over')]).toEqual(['kept', 'full']);
  });

  it('forgets bodies after quarantineMs, and has room for others then', async () => {
    const { keep, clock, quarantine, store } = setUp({ maxQuarantined: 2 });
    await keep('old');
    clock.time += day / 2;
    await keep('newer');
    expect(await keep('over')).toBe('full');
    clock.time += day / 2;
    expect(bodiesOf(await quarantine.list(all))).toEqual(['newer']);
    clock.time += day / 2;
    expect([await quarantine.list(all), await store.list({ prefix: '', limit: 10 })]).toEqual([[], []]);
  });

  it('counts nothing once all that it kept has expired', async () => {
    const { keep, clock, quarantine } = setUp();
    await keep('expires');
    clock.time += day / 2;
    await keep('is removed');
    await quarantine.remove(
      (await quarantine.list(all)).filter(({ body }) => body === 'is removed').map(({ digest }) => digest),
    );
    expect(await quarantine.count()).toBe(1);
    clock.time += day / 2;
    expect(await quarantine.count()).toBe(0);
  });

  it('lists page by page, and removes more bodies than one transaction takes', async () => {
    const { keep, quarantine } = setUp({ maxQuarantined: 2_000 });
    for (let count = 0; count < 700; count++) await keep(`body ${count}`);
    const found: UnverifiedText[] = [];
    for (;;) {
      const page = await quarantine.list({ after: found.at(-1)?.digest, limit: 300 });
      if (page.length === 0) break;
      found.push(...page);
    }
    expect(new Set(bodiesOf(found)).size).toBe(700);
    await quarantine.remove(found.map(({ digest }) => digest));
    expect(await quarantine.count()).toBe(0);
  });
});
