import { enableCompileCache, registerHooks } from 'node:module';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import './simulated-globals.ts';
import { defects } from './defects.ts';

/** What a worker is asked to play. */
export interface Ask {
  readonly seed: string;
  readonly number: number;
  readonly withTrace?: boolean | undefined;
}

/** What it met. */
export interface Played {
  readonly seed: string;
  readonly number: number;
  readonly breaches: readonly string[];
  readonly figures: ReadonlyMap<string, number>;
  readonly trace: string | undefined;
}

// Sound: chaos.ts gives it.
const { defect } = workerData as { defect: string | undefined };
if (defect !== undefined) plant(defect);

enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/compiled'));
// Only now, so that everything below sees the simulated world, and the defect.
const { runScenario } = await import('./run-scenario.ts');
// Fills what modules keep from their first use, so that a scenario is the same alone and after others.
await runScenario('warm-up');

parentPort?.on('message', async ({ seed, number, withTrace }: Ask) => {
  const { trace, ...result } = await runScenario(`${seed}/${number}`);
  const played: Played = { seed, number, ...result, trace: withTrace ? trace.join('\n') : undefined };
  parentPort?.postMessage(played);
});

/** Changes one expression of the product as it is loaded, in this thread alone. */
function plant(name: string): void {
  const defect = defects.find((one) => one.name === name);
  if (defect === undefined) throw new Error(`No defect is called ${name}.`);
  const { file, find, replace } = defect;
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith(`/src/${file}`)) return loaded;
      const source = String(loaded.source);
      if (source.split(find).length !== 2)
        throw new Error(`${name}: ${file} does not have this text once any more: ${find}`);
      return { ...loaded, source: source.replace(find, () => replace) };
    },
  });
}
