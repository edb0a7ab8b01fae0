import { Agent, request } from 'node:http';

/** What the posts over connections that are never idle were answered. */
export interface BusyConnections {
  /** How often each status was answered. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Connections that have been answered. The system may hold others back, which the server has not taken yet. */
  readonly taken: () => number;
  /** Posts whose connection broke before its answer, though it had been taken. */
  readonly broken: () => number;
  /** Resolves once nothing listens at the port any more. */
  readonly ended: Promise<void>;
}

/**
 * Posts one body after another over keep-alive connections, as a balancer does, until nothing listens any more.
 * @param next the next body
 */
export function keepConnectionsBusy(
  port: number,
  { connections, next }: { connections: number; next: () => string },
): BusyConnections {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const statuses = new Map<number, number>();
  const taken = new Set<unknown>();
  let broken = 0;
  const post = () =>
    new Promise<void>((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const sent = request({ port, host: '127.0.0.1', method: 'POST', agent, headers });
      sent.on('error', reject);
      sent.on('response', (answer) => {
        const { statusCode = 0, socket } = answer;
        taken.add(socket);
        statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
        answer.resume().on('end', resolve).on('error', reject);
      });
      sent.end(next());
    });
  const keepPosting = async (): Promise<void> => {
    for (;;) {
      try {
        await post();
      } catch (error) {
        if (Object(error).code === 'ECONNREFUSED') return;
        broken++;
      }
    }
  };
  const ended = Promise.all(Array.from({ length: connections }, keepPosting)).then(() => agent.destroy());
  return { statuses, taken: () => taken.size, broken: () => broken, ended };
}
