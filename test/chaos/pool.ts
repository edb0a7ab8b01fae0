import { Worker } from 'node:worker_threads';
import type { Ask, Played } from './worker.ts';

/** A thread of its own for simulated worlds. */
export interface Player {
  play(ask: Ask): Promise<Played>;
  end(): Promise<number>;
}

export function startPlayer(defect?: string): Player {
  const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData: { defect } });
  let waiting: PromiseWithResolvers<Played> | undefined;
  worker.on('message', (played: Played) => waiting?.resolve(played));
  // Also while it is idle: a defect may keep its module from loading.
  let failure: unknown;
  worker.on('error', (error) => {
    failure = error;
    waiting?.reject(error);
  });
  return {
    play(ask) {
      if (failure !== undefined) return Promise.reject(failure);
      waiting = Promise.withResolvers();
      worker.postMessage(ask);
      return waiting.promise;
    },
    end: () => worker.terminate(),
  };
}

/** Plays scenarios on some threads, in the order of their numbers as far as that goes. */
export async function playAll(
  asks: Iterator<Ask>,
  { threads, onPlayed }: { threads: number; onPlayed: (played: Played) => void },
): Promise<void> {
  const work = async () => {
    const player = startPlayer();
    for (let ask = asks.next(); !ask.done; ask = asks.next()) onPlayed(await player.play(ask.value));
    await player.end();
  };
  await Promise.all(Array.from({ length: threads }, work));
}
