import { expect, it } from 'vitest';
import { abortRequests } from './abort-requests.ts';

const concurrent = 500;
const waves = 3;

/** `npm run bench:http` does the same with 10,000. */
async function checkServer(transport: 'node' | 'fetch'): Promise<void> {
  const { atRest, atPeak, afterFirst, afterLast } = await abortRequests({ transport, concurrent, waves });
  expect(atPeak.pending, transport).toBe(concurrent);
  expect(atPeak.handles, transport).toBeGreaterThanOrEqual(atRest.handles + concurrent);
  expect(afterLast, transport).toMatchObject({ pending: 0, handled: 0, begun: waves * concurrent });
  expect(afterLast.handles, transport).toBeLessThanOrEqual(atRest.handles);
  // Half a body each would be 4 MB in two waves, what holds it not counted.
  expect(afterLast.memory - afterFirst.memory, transport).toBeLessThan(3_000_000);
}

it('requests broken off at once leave nothing behind: no request, no handle, no memory', {
  timeout: 60_000,
}, async () => {
  await Promise.all([checkServer('node'), checkServer('fetch')]);
});
