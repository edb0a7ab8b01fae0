import { expect, it } from 'vitest';
import { times } from '../support/repeat.ts';
import { runOrders } from './run-orders.ts';

/** The short version; `node test/proof/orders.ts` does thousands. */
it('two processes, killed at times, make at most one request for each order, and events settle the rest', async () => {
  const orders = times(80, 200);
  const figures = await runOrders({ orders, kills: 3, seed: 7 });
  console.log(figures);
  expect(figures).toMatchObject({
    sentTwice: 0,
    reportedWrongly: 0,
    notSettled: 0,
    wronglySettled: 0,
    killed: 3,
  });
  // Else it was no test.
  expect(figures.requests).toBeGreaterThan(0.7 * orders);
  expect(figures.lostReplies).toBeGreaterThan(0.1 * orders);
  expect(figures.serverErrorsAfterActing).toBeGreaterThan(0.02 * orders);
  expect(figures.settledBy.event ?? 0).toBeGreaterThan(0.25 * orders);
}, 120_000);
