/** Runs the bundled Workers in workerd, and prints their report. Plain JavaScript: miniflare is only installed here. */
import { basename, dirname } from 'node:path';
import { Miniflare } from 'miniflare';
import { checkQueues } from './check-queues.mjs';
import { Checks, equal } from './suite/checks.ts';
import { until } from './suite/fixtures.ts';
import { checkRequests, drain, post } from './suite/requests.ts';

const paths = process.argv.slice(2);
const { http } = JSON.parse(process.env.RUNTIMES_SERVERS);
const compatibility = { compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'] };
/** A bundled Worker: its own module comes first. */
function worker(name) {
  const own = paths.find((path) => basename(path) === `${name}.js`);
  const modules = [own, ...paths.filter((path) => path !== own)];
  return {
    name,
    modulesRoot: dirname(own),
    modules: modules.map((path) => ({ type: 'ESModule', path })),
    ...compatibility,
  };
}
// Calls the receiver, and gives up on it soon: workerd then drops all that the receiver was doing for the request.
const impatient = `export default {
  fetch: (request, { RECEIVER }) =>
    RECEIVER.fetch(new Request(request, { signal: AbortSignal.timeout(20) }))
      .catch(() => new Response(null, { status: 504 })),
}`;
const miniflare = new Miniflare({
  cf: false,
  workers: [
    worker('worker'),
    {
      name: 'impatient',
      modules: true,
      script: impatient,
      serviceBindings: { RECEIVER: 'worker' },
      ...compatibility,
    },
  ],
});
const checks = new Checks();
const send = (fetch) => async (request) =>
  fetch(request.url, {
    method: request.method,
    headers: Object.fromEntries(request.headers),
    body: await request.text(),
  });
const toReceiver = send((...request) => miniflare.dispatchFetch(...request));
await checkRequests(checks, toReceiver);
const { fetch: giveUp } = await miniflare.getWorker('impatient');
await checks.run('/memory: a delivery whose request was cut off is handled when it comes again', async () => {
  equal(await post(send(giveUp), '/memory', 'cut off'), 504);
  await until('handled', async () => (await post(toReceiver, '/memory', 'cut off')) === 200);
});
await checks.run('/store: what a drain that was cut off had begun is handled by a later one', async () => {
  equal(await post(toReceiver, '/store', 'drained'), 200);
  equal((await send(giveUp)(new Request('http://worker.example/drain', { method: 'POST' }))).status, 504);
  await until('handled', async () => (await drain(toReceiver)).handled === 1);
});
const inside = await (await miniflare.dispatchFetch(`http://worker.example/?http=${http}`)).json();
await miniflare.dispose();
await checkQueues(checks, worker);
const outside = checks.report();
console.log(
  JSON.stringify({
    passed: inside.passed + outside.passed,
    failures: [...inside.failures, ...outside.failures],
    notes: inside.notes,
  }),
);
