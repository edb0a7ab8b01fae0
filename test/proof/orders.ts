/*
 * The order journal against a sandbox that loses replies, and processes that are killed:
 *
 *     node test/proof/orders.ts [--rounds 25 | --minutes 2] [--seed 7]
 *
 * A round has 200 orders and one kill.
 */
import { runOrders } from '../orders/run-orders.ts';
import { searchSize } from '../support/search-size.ts';

const size = searchSize({ rounds: 25 });

for (let done = 0; !size.isOver(done); done++) {
  const seed = size.seed + done;
  const { said, settledBy, ...figures } = await runOrders({ orders: 200, kills: 1, seed });
  console.log({ seed, ...figures });
  const { sentTwice, madeTwice, reportedWrongly, notSettled, wronglySettled } = figures;
  if (sentTwice + madeTwice + reportedWrongly + notSettled + wronglySettled === 0) continue;
  console.log(said, settledBy);
  process.exitCode = 1;
}
