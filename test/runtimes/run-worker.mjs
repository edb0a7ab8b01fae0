/** Runs the bundled Worker in workerd, and prints its report. Plain JavaScript: miniflare is only installed here. */
import { dirname } from 'node:path';
import { Miniflare } from 'miniflare';
import { Checks } from './suite/checks.ts';
import { checkRequests } from './suite/requests.ts';

const paths = process.argv.slice(2);
const miniflare = new Miniflare({
  modulesRoot: dirname(paths[0]),
  modules: paths.map((path) => ({ type: 'ESModule', path })),
  compatibilityDate: '2026-07-01',
  compatibilityFlags: ['nodejs_compat'],
});
const checks = new Checks();
await checkRequests(checks, async (request) =>
  miniflare.dispatchFetch(request.url, {
    method: request.method,
    headers: Object.fromEntries(request.headers),
    body: await request.text(),
  }),
);
const inside = await (await miniflare.dispatchFetch('http://worker.example/')).json();
await miniflare.dispose();
const outside = checks.report();
console.log(
  JSON.stringify({
    passed: inside.passed + outside.passed,
    failures: [...inside.failures, ...outside.failures],
    notes: inside.notes,
  }),
);
