/** Runs the bundled Worker in workerd, and prints its report. Plain JavaScript: miniflare is only installed here. */
import { readFileSync } from 'node:fs';
import { Miniflare } from 'miniflare';

const miniflare = new Miniflare({
  modules: true,
  script: readFileSync(process.argv[2], 'utf8'),
  compatibilityDate: '2026-07-01',
  compatibilityFlags: ['nodejs_compat'],
});
const response = await miniflare.dispatchFetch('http://worker.example/');
console.log(await response.text());
await miniflare.dispose();
