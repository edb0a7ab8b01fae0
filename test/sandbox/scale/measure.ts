/**
 * Measures what an order costs a sandbox that has many: `npx node test/sandbox/scale/measure.ts 1000 10000 100000`.
 * Prints CPU time for each order with its three events, in each part of the run, and the memory that is held at the
 * end.
 */
import { createSandbox } from '../../../src/sandbox/index.ts';
import { callbackUrl, onboarded, order, place } from '../support.ts';

/** CPU microseconds for each order, in tenths of the run. */
export async function measure(orders: number): Promise<{ perOrderUs: number[]; heapMb: number }> {
  const sandbox = createSandbox({ seed: 1, fetch: async () => new Response(), maxRemembered: orders });
  const credentials = await onboarded(sandbox);
  const perOrderUs: number[] = [];
  const tenth = orders / 10;
  for (let part = 0; part < 10; part++) {
    const start = process.cpuUsage();
    for (let index = 0; index < tenth; index++) {
      const partner_order_id = `A-${part * tenth + index}`;
      const response = await place(sandbox, credentials, { ...order, partner_order_id });
      if (response.status !== 200) throw new Error(`${response.status} for ${callbackUrl}`);
      await sandbox.idle();
      await sandbox.play(partner_order_id, 'happy');
    }
    const { user, system } = process.cpuUsage(start);
    perOrderUs.push(Math.round((user + system) / tenth));
  }
  globalThis.gc?.();
  const heapMb = Math.round(process.memoryUsage().heapUsed / 1024 / 1024);
  // Keeps the sandbox alive until here.
  if (sandbox.order('A-0').state !== 'credited') throw new Error('The first order is lost.');
  return { perOrderUs, heapMb };
}

if (import.meta.main) {
  for (const orders of process.argv.slice(2).map(Number)) {
    const { perOrderUs, heapMb } = await measure(orders);
    console.log(`${orders} orders: ${perOrderUs.join(' ')} us each, ${heapMb} MB held`);
  }
}
