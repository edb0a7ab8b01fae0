import { settledWithin } from '../internal/deadline.ts';
import { checkFunction, defineOptions, type OptionTable, optional, timerMs } from '../internal/options.ts';
import { warn } from '../internal/warn.ts';

/**
 * The parts of a server of `node:http` or `node:https` that we use, and so of Express (`app.listen()`), Fastify
 * (`app.server`), NestJS (`app.getHttpServer()`) and Hono (`serve()`).
 */
export interface ClosableServer {
  close(callback: () => void): unknown;
  prependListener(
    event: 'request',
    listener: (
      request: object,
      response: { readonly headersSent: boolean; setHeader(name: string, value: string): unknown },
    ) => void,
  ): unknown;
  /** Missing in a server of HTTP/2, which is refused. */
  closeIdleConnections?: (() => void) | undefined;
  closeAllConnections?(): void;
}

/** Options of {@link closeServer}. */
export interface CloseServerOptions {
  /** Stopped once no connection can bring a delivery any more. @default none */
  readonly inbox?: { stop(options: { readonly timeoutMs: number }): Promise<unknown> } | undefined;
  /**
   * Milliseconds for all of it. With an inbox, connections get the first half, and running handlers the rest.
   * @default 10000
   */
  readonly timeoutMs?: number | undefined;
}

const readOptions = defineOptions('closeServer', {
  inbox: optional((inbox: unknown) => {
    // Sound: only `stop` is required.
    const stoppable = inbox as CloseServerOptions['inbox'] | null;
    checkFunction('inbox.stop', stoppable?.stop);
    return stoppable ?? undefined;
  }),
  timeoutMs: timerMs({ default: 10_000 }),
} satisfies OptionTable<CloseServerOptions>);

/** Milliseconds before idle connections are closed: a request may be on its way. */
const graceMs = 500;
const sweepMs = 50;

/**
 * Ends a server of HTTP/1 at the end of its process, and then its inbox, so that no delivery is lost.
 *
 * The server takes no new connections. Every answer carries `Connection: close`, so a connection in use ends with its
 * next answer; idle ones are closed after half a second. Deliveries that arrive meanwhile are stored and answered as
 * before. Then the inbox stops. Work that is left after `timeoutMs` is cut off, with one process warning; a durable inbox
 * has the deliveries handled again. Connections that never sent a request count as busy.
 *
 * The process ends by itself once your program has closed the rest, such as its database.
 *
 * @returns `drained`, or `cut-off` if connections or handlers were cut off
 * @throws {ConfigurationError} `invalid_option`, also for a server of HTTP/2
 * @example
 * ```ts
 * const server = createServer(webhooks.node).listen(3000);
 * process.once('SIGTERM', () => closeServer(server, { inbox }));
 * ```
 */
export async function closeServer(
  server: ClosableServer,
  options: CloseServerOptions = {},
): Promise<'drained' | 'cut-off'> {
  checkFunction('server.close', server?.close);
  checkFunction('server.closeIdleConnections', server.closeIdleConnections);
  const { inbox, timeoutMs } = readOptions(options);
  const startedAt = performance.now();
  const connections = await endConnections(server, inbox === undefined ? timeoutMs : timeoutMs / 2);
  const leftMs = Math.max(0, Math.ceil(timeoutMs - (performance.now() - startedAt)));
  const handlers = await inbox?.stop({ timeoutMs: leftMs });
  if (connections === 'drained' && handlers !== 'cut-off') return 'drained';
  const cutOff = connections === 'drained' ? 'handlers of the inbox' : 'connections';
  warn(`closeServer has cut off ${cutOff} that did not end within its time (timeoutMs ${timeoutMs}).`);
  return 'cut-off';
}

async function endConnections(server: ClosableServer, limitMs: number): Promise<'drained' | 'cut-off'> {
  server.prependListener('request', (_request, response) => {
    if (!response.headersSent) response.setHeader('connection', 'close');
  });
  const { closeIdleConnections } = server;
  // `close` calls it at once, before the grace is over.
  server.closeIdleConnections = () => {};
  const closed = new Promise<void>((resolve) => server.close(resolve));
  server.closeIdleConnections = closeIdleConnections;
  const graceEnd = performance.now() + Math.min(graceMs, limitMs / 4);
  const sweep = setInterval(() => {
    // In a process that was busy, requests may have arrived that are not read yet.
    if (performance.now() >= graceEnd) setImmediate(() => server.closeIdleConnections?.());
  }, sweepMs);
  const isDrained = await settledWithin([closed], limitMs);
  clearInterval(sweep);
  if (!isDrained) server.closeAllConnections?.();
  return isDrained ? 'drained' : 'cut-off';
}
