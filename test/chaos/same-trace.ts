import { startPlayer } from './pool.ts';

/** Prints the trace of a scenario that is played after the one before it, and after itself. */
const [seed = '', last = '1'] = process.argv.slice(2);
const player = startPlayer();
for (const number of [Number(last) - 1, Number(last)]) await player.play({ seed, number });
console.log((await player.play({ seed, number: Number(last), withTrace: true })).trace);
await player.end();
