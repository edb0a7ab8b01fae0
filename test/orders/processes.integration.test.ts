import { expect, it } from 'vitest';
import { runOrders } from './run-orders.ts';

/** The short version; `node test/proof/orders.ts` does thousands. */
it('two processes, killed at times, make at most one request for each order, and events settle the rest', async () => {
  const figures = await runOrders({ orders: 200, kills: 3, seed: 7 });
  console.log(figures);
  expect(figures).toMatchObject({
    sentTwice: 0,
    reportedWrongly: 0,
    notSettled: 0,
    wronglySettled: 0,
    killed: 3,
  });
  // Else it was no test.
  expect(figures.killed).toBeGreaterThan(0);
  expect(figures.requests).toBeGreaterThan(180);
  expect(figures.lostReplies).toBeGreaterThan(30);
  expect(figures.serverErrorsAfterActing).toBeGreaterThan(5);
  expect(figures.settledBy.event ?? 0).toBeGreaterThan(50);
}, 120_000);
