import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startBalancer } from '../../examples/shop/balancer.ts';
import type { Engine, ReplicaCalls, ReplicaPlace } from './plan.ts';

/** A replica that runs. */
interface Replica {
  readonly child: ChildProcess;
  readonly url: string;
}

/** The replicas of one partner behind a balancer: one that stays for the whole run, and one that is replaced. */
export async function startPartner(
  engine: Engine,
  given: {
    readonly address: string;
    readonly books: string;
    readonly apiKey: string;
    readonly env: NodeJS.ProcessEnv;
  },
) {
  const balancer = await startBalancer();
  const { env, ...shared } = given;
  const place: ReplicaPlace = {
    ...shared,
    engine,
    callback: `${balancer.url}/events`,
    secret: randomBytes(32).toString('hex'),
  };
  const steady = await start();
  let rolling = await start();

  async function start(): Promise<Replica> {
    const child = fork(join(import.meta.dirname, 'replica.ts'), [JSON.stringify(place)], {
      env: { ...process.env, ...env },
      execArgv: [
        '--expose-gc',
        '--disable-warning=ExperimentalWarning',
        '--disable-warning=PartnerExchangeWarning',
      ],
    });
    const exited = once(child, 'exit').then(([code]) =>
      Promise.reject(new Error(`A replica ended with ${code}.`)),
    );
    // Its first message.
    const [{ port }] = (await Promise.race([once(child, 'message'), exited])) as [{ port: number }];
    exited.catch(() => {});
    const url = `http://127.0.0.1:${port}`;
    balancer.targets.add(url);
    return { child, url };
  }

  async function stop({ child, url }: Replica): Promise<void> {
    balancer.targets.delete(url);
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const [code] = await exited;
    if (code !== 0) throw new Error(`A replica over ${engine} ended with ${code}.`);
  }

  async function post<Name extends keyof ReplicaCalls>(
    url: string,
    name: Name,
    body: Parameters<ReplicaCalls[Name]>[0],
  ) {
    const response = await fetch(`${url}/${name}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${name}: ${text}`);
    // What the replica's table returns.
    return JSON.parse(text) as Awaited<ReturnType<ReplicaCalls[Name]>>;
  }

  return {
    engine,
    pid: steady.child.pid ?? 0,
    /** Asks any replica, once. */
    ask: <Name extends keyof ReplicaCalls>(name: Name, body: Parameters<ReplicaCalls[Name]>[0]) =>
      post(balancer.url, name, body),
    /** Asks any replica until one answers. */
    async insist<Name extends keyof ReplicaCalls>(name: Name, body: Parameters<ReplicaCalls[Name]>[0]) {
      for (let tries = 0; ; tries++) {
        try {
          return await post(balancer.url, name, body);
        } catch (error) {
          if (tries === 100) throw error;
          await pause(300);
        }
      }
    },
    sample: () => post(steady.url, 'sample', {}),
    /** Starts another replica before the old one ends, as a deployment does. */
    async replace(): Promise<void> {
      const old = rolling;
      rolling = await start();
      await stop(old);
    },
    async end(): Promise<void> {
      await Promise.all([stop(steady), stop(rolling)]);
      balancer.close();
    },
  };
}

export type Partner = Awaited<ReturnType<typeof startPartner>>;
