import { startPlayer } from './pool.ts';

/** Prints the trace of a scenario that is played after the one before it, and after itself. */
const [seed = '', number = '1'] = process.argv.slice(2);
const player = startPlayer();
await player.play({ seed, number: Number(number) - 1 });
await player.play({ seed, number: Number(number) });
const { trace } = await player.play({ seed, number: Number(number), withTrace: true });
console.log(trace);
await player.end();
