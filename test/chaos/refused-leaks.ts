import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import './simulated-globals.ts';

/** Prints what the simulated world refuses: one line for each. */
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
    const isRefused = error instanceof Error && error.message.startsWith('The simulated world has no');
    console.log(`${name} ${isRefused ? 'is refused' : String(error)}`);
  }
}
