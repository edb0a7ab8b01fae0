import { createHook } from 'node:async_hooks';
import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { leaked } from './simulated-globals.ts';

/** Prints what the simulated world refuses: one line for each, and one for each kind of real work that a scenario began. */
const leaks: Readonly<Record<string, () => unknown>> = {
  fetch: () => fetch('http://127.0.0.1:9/'),
  socket: () => connect(9, '127.0.0.1'),
  randomInt: () => randomInt(9),
  hrtime: () => process.hrtime(),
  timer: () => setTimeout(() => {}, 1),
  uuid: () => crypto.randomUUID(),
};

for (const [name, leak] of Object.entries(leaks)) {
  try {
    leak();
    console.log(`${name} leaks`);
  } catch (error) {
    const isRefused = error instanceof Error && error.message.startsWith(leaked);
    console.log(`${name} ${isRefused ? 'is refused' : String(error)}`);
  }
}

/** What Node begins in its one thread; all other kinds end when a thread, the system or a real clock says so. */
const ownKinds = ['PROMISE', 'Immediate', 'TickObject', 'Microtask', 'ZLIB'];
const kinds = new Set<string>();
const { runScenario } = await import('./run-scenario.ts');
createHook({ init: (_, kind) => void kinds.add(kind) }).enable();
for (let number = 0; number < 6; number++) await runScenario(`leaks/${number}`);
const real = [...kinds].filter((kind) => !ownKinds.includes(kind));
console.log(`work ${real.length === 0 ? 'is refused' : `leaks: ${real.join()}`}`);
