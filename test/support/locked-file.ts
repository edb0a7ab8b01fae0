import { fork } from 'node:child_process';
import { join } from 'node:path';

/** Another process that can take the write lock of a database file. */
export interface LockHolder {
  /** Resolves when it has the lock. */
  hold(): Promise<void>;
  release(): Promise<void>;
  /** Resolves when its service has got so many requests. */
  requests(count: number): Promise<void>;
  readonly url: string;
  end(): void;
}

export async function startLockHolder(path: string, { answerAfterMs = 0 } = {}): Promise<LockHolder> {
  const child = fork(join(import.meta.dirname, 'lock-holder.ts'), [path, String(answerAfterMs)]);
  const heard: { said: string; requests?: number; port?: number }[] = [];
  const listeners = new Set<() => void>();
  child.on('message', (message) => {
    // Sound: the child sends nothing else.
    heard.push(message as (typeof heard)[number]);
    for (const listener of listeners) listener();
  });
  const hear = (isIt: (one: (typeof heard)[number]) => boolean) =>
    new Promise<(typeof heard)[number]>((resolve) => {
      const look = () => {
        const found = heard.find(isIt);
        if (found === undefined) return;
        listeners.delete(look);
        resolve(found);
      };
      listeners.add(look);
      look();
    });
  const tell = async (what: 'hold' | 'release') => {
    heard.splice(0, heard.length, ...heard.filter(({ said }) => said !== what));
    child.send(what);
    await hear(({ said }) => said === what);
  };
  const { port } = await hear(({ said }) => said === 'ready');
  return {
    hold: () => tell('hold'),
    release: () => tell('release'),
    requests: async (count) => void (await hear(({ requests = 0 }) => requests >= count)),
    url: `http://127.0.0.1:${port}`,
    end: () => child.disconnect(),
  };
}

/** How often a timer of 10 ms fired while `work` went on. */
export async function countTicks(work: () => Promise<unknown>): Promise<number> {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 10);
  await work();
  clearInterval(timer);
  return ticks;
}

export function sleepFor(ms: number): Promise<void> {
  // real time: its callers say why.
  return new Promise((resolve) => setTimeout(resolve, ms));
}
