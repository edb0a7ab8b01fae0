import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Figures } from './server.ts';

/** Before any request, after the first wave of broken-off ones, and after the last. */
export interface AbortFigures {
  readonly atRest: Figures;
  /** With every request of a wave under way. */
  readonly atPeak: Figures;
  readonly afterFirst: Figures;
  readonly afterLast: Figures;
}

const pieceBytes = 4096;

/**
 * Opens so many requests at once, sends half of each body, and breaks all of them off; as often as there are waves.
 * The first wave fills what a server keeps for later: what it has not given back after the last is a leak.
 */
export async function abortRequests(options: {
  readonly transport: 'node' | 'fetch';
  readonly concurrent: number;
  readonly waves: number;
}): Promise<AbortFigures> {
  const child = fork(join(import.meta.dirname, 'server.ts'), [options.transport]);
  try {
    const [port] = await once(child, 'message');
    const atRest = await figuresOf(child);
    let afterFirst = atRest;
    let atPeak = atRest;
    let afterLast = atRest;
    for (let wave = 1; wave <= options.waves; wave++) {
      const sockets = await openHalf(port, options.concurrent);
      atPeak = await settled(child, ({ begun }) => begun >= options.concurrent * wave);
      for (const socket of sockets) socket.destroy();
      afterLast = await settled(child, ({ pending, handles }) => pending === 0 && handles <= atRest.handles);
      afterLast = await atLowest(child, afterLast);
      if (wave === 1) afterFirst = afterLast;
    }
    return { atRest, atPeak, afterFirst, afterLast };
  } finally {
    child.disconnect();
    await once(child, 'exit');
  }
}

async function openHalf(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 * pieceBytes}\r\n\r\n`;
  while (sockets.length < count) {
    // As many at once as a listening queue holds.
    const some = Array.from({ length: Math.min(256, count - sockets.length) }, () =>
      connect(port, '127.0.0.1'),
    );
    await Promise.all(some.map((socket) => once(socket, 'connect')));
    for (const socket of some) {
      socket.on('error', () => {});
      socket.write(head + ' '.repeat(pieceBytes));
    }
    sockets.push(...some);
  }
  return sockets;
}

/** The figures once they are as expected, or those of the time when patience ran out. */
async function settled(child: ChildProcess, isSettled: (figures: Figures) => boolean): Promise<Figures> {
  for (let attempt = 0; ; attempt++) {
    const figures = await figuresOf(child);
    if (isSettled(figures) || attempt >= 500) return figures;
    // real time: looks again until it is there.
    await setTimeout(20);
  }
}

/** Memory outside of the heap is given back some time after the collection that found it unused. */
async function atLowest(child: ChildProcess, first: Figures): Promise<Figures> {
  let lowest = first;
  for (let attempt = 0; attempt < 5; attempt++) {
    // real time: the collector takes a while; the lowest of five figures counts.
    await setTimeout(50);
    const figures = await figuresOf(child);
    if (figures.memory < lowest.memory) lowest = figures;
  }
  return lowest;
}

async function figuresOf(child: ChildProcess): Promise<Figures> {
  child.send('figures');
  const [figures] = await once(child, 'message');
  return figures;
}
