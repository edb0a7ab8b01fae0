/*
 * The order journal against a sandbox that loses replies, and processes that are killed:
 *
 *     node test/proof/orders.ts [orders] [kills] [seed]
 */
import { runOrders } from '../orders/run-orders.ts';

const orders = Number(process.argv[2] ?? 5_000);
const kills = Number(process.argv[3] ?? 20);
const seed = Number(process.argv[4] ?? 1);

const figures = await runOrders({ orders, kills, seed });
console.log(figures);
const { sentTwice, madeTwice, reportedWrongly, notSettled, wronglySettled } = figures;
if (sentTwice + madeTwice + reportedWrongly + notSettled + wronglySettled > 0) process.exitCode = 1;
