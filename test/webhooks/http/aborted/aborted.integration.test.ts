import { describe, expect, it } from 'vitest';
import { abortRequests } from './abort-requests.ts';

describe.each(['node', 'fetch'] as const)('requests broken off at once (%s)', (transport) => {
  // `npm run bench:http` does the same with 10,000.
  it('leave nothing behind: no request, no handle, no memory', { timeout: 60_000 }, async () => {
    const concurrent = 500;
    const { atRest, atPeak, afterFirst, afterLast } = await abortRequests({
      transport,
      concurrent,
      waves: 4,
    });
    expect(atPeak.pending).toBe(concurrent);
    expect(atPeak.handles).toBeGreaterThanOrEqual(atRest.handles + concurrent);
    expect(afterLast).toMatchObject({ pending: 0, handled: 0, begun: 4 * concurrent });
    expect(afterLast.handles).toBeLessThanOrEqual(atRest.handles);
    // Half a body each would be 6 MB in three waves, what holds it not counted.
    expect(afterLast.memory - afterFirst.memory).toBeLessThan(3_000_000);
  });
});
