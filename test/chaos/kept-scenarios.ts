import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Plan } from './plan.ts';
import { realImmediate } from './simulated-globals.ts';

const { runScenario } = await import('./run-scenario.ts');

/** Prints how many of this many scenarios are still in memory when they are over. */
const scenarios = Number(process.argv[2]);
const plans: WeakRef<Plan>[] = [];
for (let number = 0; number < scenarios; number++) {
  const { plan } = await runScenario(`kept/${number}`);
  plans.push(new WeakRef(plan));
}
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
// Node lets go of a signal in one collection, and of what listens to it in the next.
for (let turn = 0; turn < 4; turn++) {
  await realImmediate();
  collectGarbage();
}
console.log(plans.filter((plan) => plan.deref() !== undefined).length);
