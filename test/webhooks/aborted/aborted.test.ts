import { describe, expect, it } from 'vitest';
import { abortRequests } from './abort-requests.ts';

describe.each(['node', 'fetch'] as const)('requests broken off at once (%s)', (transport) => {
  // `npm run bench:http` does the same with 10,000.
  it('leave nothing behind: no request, no handle, no memory', { timeout: 60_000 }, async () => {
    const concurrent = 500;
    const { atRest, atPeak, afterFirst, afterLast } = await abortRequests({
      transport,
      concurrent,
      waves: 3,
    });
    expect(atPeak.pending).toBe(concurrent);
    expect(atPeak.handles).toBeGreaterThanOrEqual(atRest.handles + concurrent);
    expect(afterLast).toMatchObject({ pending: 0, handled: 0, begun: 3 * concurrent });
    expect(afterLast.handles).toBeLessThanOrEqual(atRest.handles);
    // Half a body each would be 4 MB in two waves.
    expect(afterLast.memory - afterFirst.memory).toBeLessThan(1_000_000);
  });
});
