import { afterEach, describe, expect, it, vi } from 'vitest';
import type { HandleResult } from '../../../src/inbox/inbox.ts';
import {
  type MemoryDeduplicationOptions,
  memoryDeduplication,
} from '../../../src/inbox/memory-deduplication.ts';

const reference = { digest: 'a'.repeat(64), name: 'event.buy.init', key: { index: 0 } };

function open(options: Partial<MemoryDeduplicationOptions> = {}) {
  return memoryDeduplication({
    maxRemembered: 10,
    rememberMs: 1_000,
    timeLimitMs: 60_000,
    now: () => 1_800_000_000_000,
    ...options,
  });
}

/** A handler that ends only when the test says so, or when it is aborted. */
function held() {
  const { promise, resolve } = Promise.withResolvers<HandleResult>();
  return { handle: () => promise, end: () => resolve('handled') };
}

const handled = async () => 'handled' as const;

afterEach(() => vi.unstubAllGlobals());

describe('a delivery that is deduplicated in memory', () => {
  it('is remembered while no more than maxRemembered came after it, and forgotten after twice as many', async () => {
    const deduplication = open({ maxRemembered: 100 });
    const receive = (number: number) =>
      deduplication.receive({ ...reference, digest: String(number) }, handled);
    for (let number = 0; number < 350; number++) {
      expect(await receive(number)).toBe('handled');
      if (number >= 99) expect(await receive(number - 99)).toBe('duplicate');
    }
    expect(await receive(150)).toBe('handled');
  });
});

describe('a delivery whose request workerd has cancelled', () => {
  /** Receives a delivery whose handler hangs, and looks after `elapsedMs` whether it can be handled. */
  async function receiveAgain(elapsedMs: number) {
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
    let time = 1_000_000;
    vi.spyOn(performance, 'now').mockImplementation(() => time);
    const deduplication = open();
    const [dropped, late] = [held(), held()];
    void deduplication.receive(reference, dropped.handle);
    time += elapsedMs;
    const again = deduplication.receive(reference, late.handle);
    vi.restoreAllMocks();
    return { deduplication, dropped, late, again };
  }

  it('is busy for twice its time limit', async () => {
    const { again } = await receiveAgain(119_999);
    expect(await again).toBe('busy');
  });

  it('can be handled after that, and its former handler, if it ends after all, does not end the new one', async () => {
    const { deduplication, dropped, late, again } = await receiveAgain(120_000);
    expect(deduplication.active()).toHaveLength(1);
    dropped.end();
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(deduplication.active()).toHaveLength(1);
    late.end();
    expect(await again).toBe('handled');
  });
});
