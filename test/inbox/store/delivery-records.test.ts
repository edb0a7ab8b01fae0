import { describe, expect, it } from 'vitest';
import { deliveryIndexes } from '../../../src/inbox/store/record-form.ts';
import type { JsonObject } from '../../../src/internal/json.ts';
import { a, b, deliveryOf, failure, leaseMs, recordBench } from './record-bench.ts';

describe('the records of a delivery', () => {
  it('lie under the keys where every version looks for them', async () => {
    const { clock, records, lease, keys } = recordBench();
    const [at, until] = [`000${clock.now}`, `000${clock.now + leaseMs}`];
    await records.insert(deliveryOf(a));
    expect(await keys()).toEqual([`inbox/delivery/${a}`, `inbox/due/${at}/${a}`]);
    const leased = await lease();
    expect(await keys()).toEqual([`inbox/alone/${until}/${a}`, `inbox/delivery/${a}`]);
    await records.moveToDeadLetters(leased, failure);
    expect(await keys()).toEqual([`inbox/dead/${at}/${a}`, `inbox/delivery/${a}`]);
  });

  it('keep what a newer version has added to them', async () => {
    const { store, records, lease, keys } = recordBench();
    await records.insert(deliveryOf(a));
    const both = await keys();
    await store.transact(both, (found) => {
      // Sound: both are objects.
      for (const key of both) found.set(key, { ...(found.get(key) as JsonObject), region: 'west' });
    });
    await records.postpone(await lease(), 5_000, failure);
    const left = await store.list({ prefix: '', limit: 10 });
    expect(left).toMatchObject([{ value: { region: 'west' } }, { value: { region: 'west' } }]);
  });

  it('are made for no digest but 64 hexadecimal digits', async () => {
    const { records, keys } = recordBench();
    for (const digest of ['', 'a'.repeat(63), `${a}a`, 'A'.repeat(64), `${'a'.repeat(63)}\n`])
      await expect(records.insert(deliveryOf(digest))).rejects.toThrow('64 hexadecimal digits');
    expect(await keys()).toEqual([]);
  });

  it('that a stray entry of an index leads to are not leased twice, and the entry is dropped', async () => {
    const { clock, store, settings, records, lease, keys } = recordBench();
    await records.insert(deliveryOf(a));
    const entry = { receivedAt: clock.now, writtenAt: clock.now };
    const { due, alone } = deliveryIndexes({ ...settings, store });
    const stray = [due, alone].flatMap(({ keyOf }) => [a, b].map((digest) => keyOf(clock.now - 5, digest)));
    await store.transact(stray, (found) => {
      for (const key of stray) found.set(key, entry);
    });
    expect(await records.isAloneDue()).toBe(true);
    expect(await records.leaseAlone()).toEqual({ leased: undefined, dead: [] });
    expect((await records.lease(2)).leased).toEqual([]);
    expect((await lease()).attempt).toBe(1);
    expect(await keys()).toHaveLength(2);
  });
});

describe('a lease', () => {
  it('of one that lost its lease goes to one of two workers, and lasts as long as any', async () => {
    const { clock, records, open, lease } = recordBench();
    await records.insert(deliveryOf(a));
    await lease();
    clock.now += leaseMs - 1;
    expect(await records.isAloneDue()).toBe(false);
    clock.now += 1;
    const both = await Promise.all([records.leaseAlone(), open().leaseAlone()]);
    expect(both.filter(({ leased }) => leased !== undefined)).toHaveLength(1);
    clock.now += leaseMs - 1;
    expect(await records.isAloneDue()).toBe(false);
    clock.now += 1;
    expect(await records.isAloneDue()).toBe(true);
  });

  it('of one that only waited for its turn alone is no lost one', async () => {
    const { clock, records, lease, takeOver } = recordBench({ maxAttempts: 2 });
    await records.insert(deliveryOf(a));
    await lease();
    await records.postpone(await takeOver(), 1_000, failure);
    clock.now += 1_000;
    expect(await records.leaseAlone()).toMatchObject({ leased: { attempt: 2 }, dead: [] });
  });

  it('lost at the last attempt alone makes a dead letter, and the next delivery is leased', async () => {
    const { clock, records, lease, takeOver, status, deliveries } = recordBench({ maxAttempts: 1 });
    await records.insert(deliveryOf(a));
    await lease();
    await takeOver();
    clock.now += leaseMs - 1;
    await records.insert(deliveryOf(b));
    await lease();
    clock.now += 1;
    const { leased, dead } = await records.leaseAlone();
    expect(leased).toBeUndefined();
    expect(dead).toMatchObject([{ delivery: { digest: a }, attempt: 1 }]);
    expect(await status()).toMatchObject({ state: 'dead', attempts: 1 });
    expect(await deliveries.counts()).toEqual({ open: 1, dead: 1 });
  });
});

describe('the end of a delivery', () => {
  it('counts though another worker has leased it by now', async () => {
    const { records, lease, takeOver, keys, deliveries } = recordBench();
    await records.insert(deliveryOf(a));
    const late = await lease();
    const other = await takeOver();
    await records.remove(late);
    expect(await keys()).toEqual([`inbox/delivery/${a}`]);
    await records.postpone(other, 1_000, failure);
    expect(await deliveries.counts()).toEqual({ open: 0, dead: 0 });
  });

  it('counts though the other worker moves or ends it at that moment', async () => {
    for (const end of ['postpone', 'remove'] as const) {
      const { records, open, interrupted, lease, takeOver, keys } = recordBench();
      await records.insert(deliveryOf(a));
      const late = await lease();
      const other = await takeOver();
      const act = () => (end === 'remove' ? records.remove(other) : records.postpone(other, 1_000, failure));
      await open(0, interrupted(3, act)).remove(late);
      expect(await keys()).toEqual([`inbox/delivery/${a}`]);
    }
  });
});

describe('a delivery that is given back', () => {
  it('begins its wait anew if the clock was set back', async () => {
    const { clock, records, lease, status } = recordBench();
    await records.insert({ ...deliveryOf(a), name: 'a \0 in its name' });
    const leased = await lease();
    clock.now -= 86_400_000;
    await records.putBack(leased, 0);
    const receivedAt = new Date(clock.now);
    expect(await status()).toMatchObject({ attempts: 0, receivedAt, name: 'a \ufffd in its name' });
  });
});

describe('the mark of a delivery', () => {
  it('ends it in the store of a transaction, and nothing before that is committed', async () => {
    const { store, records, lease, status, keys } = recordBench();
    await records.insert(deliveryOf(a));
    const leased = await lease();
    expect(await records.isHandled(leased)).toBe(false);
    expect(await records.mark(leased, store)).toBe('marked');
    expect(await records.isHandled(leased)).toBe(true);
    expect(await status()).toEqual({ digest: a, state: 'handled' });
    expect(await keys()).toEqual([`inbox/delivery/${a}`]);
  });

  it('is not there in a store that does not hold it', async () => {
    const { records, lease, status } = recordBench();
    await records.insert(deliveryOf(a));
    const leased = await lease();
    const other = recordBench();
    expect(await records.mark(leased, other.store)).toBe('absent');
    expect(await other.keys()).toEqual([]);
    expect(await status()).toMatchObject({ state: 'held' });
  });

  it('is not made once another worker has the delivery, or has handled it', async () => {
    const { store, records, lease, takeOver, status } = recordBench();
    await records.insert(deliveryOf(a));
    const late = await lease();
    const other = await takeOver();
    expect(await records.mark(late, store)).toBe('lost');
    expect(await status()).toMatchObject({ state: 'held' });
    await records.remove(other);
    expect(await records.mark(late, store)).toBe('lost');
  });
});
