import { afterEach, describe, expect, it, vi } from 'vitest';
import { endOfTurn } from '../../src/internal/deadline.ts';

describe('the end of a turn', () => {
  it('comes when everything that was ready has been worked off', async () => {
    const done: string[] = [];
    const first = endOfTurn()?.then(() => done.push('after the turn'));
    process.nextTick(() => done.push('next tick'));
    queueMicrotask(() => done.push('microtask'));
    await first;
    expect(done.toSorted()).toEqual(['after the turn', 'microtask', 'next tick']);
    expect(done.at(-1)).toBe('after the turn');
  });

  it('does not keep timers waiting for 10,000 of them', async () => {
    let done = 0;
    let doneBeforeTimer = Number.NaN;
    setTimeout(() => {
      doneBeforeTimer = done;
    });
    await Promise.all(
      Array.from({ length: 10_000 }, async () => {
        await endOfTurn();
        const begun = performance.now();
        while (performance.now() - begun < 0.01);
        done++;
      }),
    );
    expect(done).toBe(10_000);
    expect(doneBeforeTimer).toBeLessThanOrEqual(1_000);
  });
});

describe('where a request may be dropped with its timers', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  it.each([{ userAgent: 'Cloudflare-Workers' }, {}, undefined])(
    'nothing waits for what another has set up: %j',
    async (navigator) => {
      vi.stubGlobal('navigator', navigator);
      vi.resetModules();
      const { endOfTurn: here } = await import('../../src/internal/deadline.ts');
      expect(here()).toBe(undefined);
    },
  );
});
