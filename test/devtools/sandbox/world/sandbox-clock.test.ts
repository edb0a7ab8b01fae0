import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import { createClock } from '../../../../src/devtools/sandbox/world/clock.ts';
import { isConfigurationError } from '../../../../src/errors/errors.ts';
import { nextTurn } from '../../../support/next-turn.ts';

describe('a manual clock', () => {
  it('stands still until it is advanced, whatever `now` says later', async () => {
    let real = 1000;
    const { clock } = createSandbox({ clock: 'manual', now: () => real });
    real = 5000;
    expect(clock.now()).toBe(1000);
    await clock.advance(10);
    expect(clock.now()).toBe(1010);
  });

  it('runs what is due in the order of its time, each when the one before is done', async () => {
    const clock = createClock({ mode: 'manual', now: () => 0 });
    const seen: string[] = [];
    clock.schedule(20, () => void seen.push(`b ${clock.now()}`));
    clock.schedule(20, () => void seen.push(`c ${clock.now()}`));
    clock.schedule(15, () => void seen.push('never')).cancel();
    clock.schedule(10, async () => {
      await nextTurn();
      seen.push(`a ${clock.now()}`);
      clock.schedule(5, () => void seen.push(`a2 ${clock.now()}`));
    });
    clock.schedule(31, () => void seen.push('late'));
    await clock.advance(30);
    expect(seen).toEqual(['a 10', 'a2 15', 'b 20', 'c 20']);
    expect([clock.now(), clock.nextAt]).toEqual([30, 31]);
    await clock.drain();
    expect([seen.at(-1), clock.now(), clock.nextAt]).toEqual(['late', 31, undefined]);
  });

  it('ends a sleep in time, or at once when that is aborted', async () => {
    const clock = createClock({ mode: 'manual', now: () => 0 });
    const abort = new AbortController();
    const ends: string[] = [];
    const first = clock.sleep(10).then(() => ends.push('slept'));
    const second = clock.sleep(10, abort.signal).then(() => ends.push('aborted'));
    abort.abort();
    await second;
    await clock.sleep(10, abort.signal);
    expect(ends).toEqual(['aborted']);
    await clock.advance(10);
    await first;
    expect(ends).toEqual(['aborted', 'slept']);
  });

  it('refuses to go back, or nowhere', async () => {
    const { clock } = createSandbox({ clock: 'manual' });
    for (const ms of [-1, 0.5, Number.NaN]) {
      await expect(clock.advance(ms)).rejects.toSatisfy(isConfigurationError);
    }
  });
});

describe('a real clock', () => {
  it('goes on by itself, can be moved forward, and forgets what waits when it is stopped', async () => {
    const clock = createClock({ mode: 'real', now: Date.now });
    const seen: string[] = [];
    clock.schedule(3_600_000, () => void seen.push('in an hour'));
    await clock.sleep(2);
    expect(seen).toEqual([]);
    await clock.advance(3_600_000);
    expect(seen).toEqual(['in an hour']);
    expect(clock.now() - Date.now()).toBeGreaterThanOrEqual(3_599_000);
    clock.schedule(1, () => void seen.push('never'));
    clock.stop();
    // real time: nothing may happen meanwhile; a busy machine lets less happen.
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(seen).toEqual(['in an hour']);
  });
});
