import { createServer } from 'node:http';
import { errorReply, Refusal } from '../../sandbox/requests.ts';
import { hostCheck, readUpTo, streamResponse, toRequest } from '../../sandbox/server/http-server.ts';
import { CliError } from '../context.ts';
import { listenOn } from './receive-server.ts';
import { createServeInspector, type InspectorOptions } from './serve-inspector.ts';

export interface Inspector {
  /** With the token behind the `#`, where no server sees it. */
  readonly url: string;
  close(): Promise<void>;
}

/** The page sends no body that is longer. */
const maxBodyBytes = 1024;

const foreignHost = new Refusal(403, 'host_not_allowed', 'The Host or Origin is not that of the inspector.');

/**
 * The inspector of `listen`. It has a port of its own, on loopback alone: the port for events may be reached from
 * outside, through a tunnel whose connections come from this machine too.
 */
export async function startInspector({
  port,
  ...options
}: InspectorOptions & { port: number }): Promise<Inspector> {
  const server = createServer();
  const bound = await listenOn(server, { port, host: '127.0.0.1' }).catch(
    (cause: Error & { code?: string }) => {
      if (cause.code !== 'EADDRINUSE') throw cause;
      throw new CliError('The port of the inspector is in use: choose another with --inspector-port.', {
        cause,
      });
    },
  );
  const originOf = hostCheck(['127.0.0.1', 'localhost']);
  const serve = createServeInspector(options);
  server.on('request', (incoming, outgoing) => {
    const reply = async () => {
      const body = await readUpTo(incoming, maxBodyBytes);
      const origin = originOf(incoming.headers);
      const request = origin === undefined ? undefined : toRequest(incoming, body, origin);
      const ip = incoming.socket.remoteAddress ?? '';
      const response = request === undefined ? errorReply(foreignHost) : await serve(request, { ip });
      await streamResponse(response, outgoing, incoming.method);
    };
    // A caller that hangs up needs no answer.
    reply().catch(() => outgoing.destroy());
  });
  return {
    url: `http://127.0.0.1:${bound.port}/#token=${options.token}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
