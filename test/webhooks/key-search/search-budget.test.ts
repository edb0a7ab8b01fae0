import { describe, expect, it } from 'vitest';
import { searchBudget } from '../../../src/webhooks/key-search/search-budget.ts';

function budgetOf(keysPerSecond: number) {
  const clock = { ms: 0 };
  const budget = searchBudget({ keysPerSecond, now: () => clock.ms });
  const take = (sender: string, keys = 1_000, bytes = 800) => budget.take({ sender, keys, bytes });
  return { clock, take };
}

describe('the budget for searches', () => {
  it('gives no more than its keys a second over time, however many ask, and with whatever names', () => {
    const { clock, take } = budgetOf(50_000);
    let keys = 0;
    for (let index = 0; index < 100_000; index++) {
      clock.ms += 1;
      if (take(`sender ${index}`) === 0) keys += 1_000;
      if (take(`sender ${index}`, 1_000, 200_000) === 0) keys += 1_000 * Math.ceil(200_000 / 4096);
    }
    // In 100 seconds, with what was there at the begin, and what each part may owe at the end.
    expect(keys).toBeLessThanOrEqual(50_000 * 101 + 17 * 1_000 + 49_000);
    expect(keys).toBeGreaterThan(50_000 * 95);
  });

  it('says when there may be some again, and then there is', () => {
    const { clock, take } = budgetOf(8_000);
    while (take('one') === 0);
    const waitMs = take('one');
    expect(waitMs).toBeGreaterThan(0);
    clock.ms += waitMs;
    expect(take('one')).toBe(0);
  });

  it('keeps a share for a sender beside a flood of another one', () => {
    const { clock, take } = budgetOf(16_000);
    let searches = 0;
    for (let second = 0; second < 100; second++) {
      for (let index = 0; index < 100; index++) {
        clock.ms += 10;
        take('flood');
      }
      if (take('merchant') === 0) searches++;
    }
    // A quarter of 16,000 keys a second in 16 shares is a search of 1,000 keys in four seconds.
    expect(searches).toBeGreaterThanOrEqual(24);
  });

  it('keeps a part of it from long bodies, and from ordinary ones', () => {
    const long = budgetOf(16_000);
    while (long.take('flood', 1_000, 260_000) === 0);
    expect(long.take('merchant')).toBe(0);
    const ordinary = budgetOf(16_000);
    while (ordinary.take('flood') === 0);
    expect(ordinary.take('flood', 1_000, 5_000)).toBe(0);
  });

  it('allows a search that costs more than there ever is, and then waits for it', () => {
    const { clock, take } = budgetOf(1_000);
    expect(take('one', 10_000)).toBe(0);
    clock.ms += 1_000;
    expect(take('other', 10_000)).toBe(0); // From its share.
    expect(take('other', 10_000)).toBeGreaterThan(10_000);
  });

  it('leaves everybody a chance in a flood that names all senders: a merchant that comes again gets through', () => {
    const { clock, take } = budgetOf(16_000);
    let state = 1;
    // A number from 0 to 1 (minimal standard generator).
    const random = () => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    const tries: number[] = [];
    for (let merchant = 0; merchant < 20; merchant++) {
      let count = 1;
      while (take(`merchant ${merchant}`) !== 0) {
        count++;
        // 200 forged ones a second for ten seconds, then it comes again.
        for (let index = 0; index < 2_000; index++) {
          clock.ms += 10 * random();
          take(`sender ${Math.floor(random() * 1e6)}`);
        }
      }
      tries.push(count);
    }
    // The flood gets 12 searches a second for 200 deliveries; so does a merchant, on average once in 17 times.
    expect(Math.max(...tries)).toBeLessThan(150);
  });

  it('is not refilled by a clock that is set back, nor stopped', () => {
    const { clock, take } = budgetOf(1_000);
    while (take('one') === 0);
    clock.ms -= 3_600_000;
    expect(take('one')).toBeGreaterThan(0);
    clock.ms += 10_000;
    expect(take('one')).toBe(0);
  });
});
