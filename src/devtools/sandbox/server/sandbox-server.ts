import { randomBytes } from 'node:crypto';
import type { CompleteDeployment } from '../../../deployment/define-deployment.ts';
import type { BuyOrder } from '../../../deployment/order-schema.ts';
import {
  defineOptions,
  integer,
  invalidOption,
  type OptionTable,
  oneOf,
  text,
} from '../../../internal/options.ts';
import type { SandboxClock } from '../clock.ts';
import type { ControlAccess, ControlHandler } from '../control/control-api.ts';
import { textsOr } from '../sandbox-options.ts';
import { requireToken } from '../sandbox-secrets.ts';
import type { SandboxHandler } from '../service.ts';
import { socketReply } from '../wire-reply.ts';
import { answerRequests, startHttpServer } from './http-server.ts';

/** Options of `listen` of a sandbox. */
export interface ListenOptions {
  /** @default 0: any free port */
  port?: number | undefined;
  /** Where to listen. Any other address than loopback admits the network. @default '127.0.0.1' */
  host?: string | undefined;
  /**
   * Further names of the server, without a port, e.g. that of a container. Its own address and `localhost` are
   * always allowed; requests with another Host, and from web pages of other origins, are refused with 403.
   * @default []
   */
  allowedHosts?: readonly string[] | undefined;
  /**
   * Who may use `/_sandbox/`, the inspector and its API: this machine (`loopback`), everybody who reaches the server
   * (`any`, for a container; then reading needs the token, too), or nobody (`off`). @default 'loopback'
   */
  inspector?: 'loopback' | 'any' | 'off' | undefined;
  /**
   * The token for requests below `/_sandbox/` that change something, sent as `Authorization: Bearer`: at least 16 of
   * `A-Z a-z 0-9 - _`. @default a random one, see `token` of the result
   */
  token?: string | undefined;
}

/** A running HTTP server of a sandbox. */
export interface SandboxServer<Order = BuyOrder> {
  /** Origin, e.g. `http://127.0.0.1:40123`, without a slash at the end. */
  readonly url: string;
  /** The sandbox's deployment with its base URLs at this address. */
  readonly deployment: CompleteDeployment<Order>;
  /** The address of the inspector, with the token behind the `#`, which browsers do not send. */
  readonly inspectorUrl: string;
  /** For requests below `/_sandbox/` that change something: the header `Authorization: Bearer <token>`. */
  readonly token: string;
  /**
   * Stops listening, closes every connection, and waits for current events. The sandbox stays usable. A second call
   * waits for the first.
   */
  close(): Promise<void>;
}

/** Starts a server. Rejects with the system's error, e.g. `EADDRINUSE`. */
export async function listen<Order>(options: {
  at: ListenOptions;
  maxBodyBytes: number;
  serve: SandboxHandler;
  clock: SandboxClock;
  deploymentAt: (origin: string) => CompleteDeployment<Order>;
  idle: () => Promise<void>;
  loadControl: (access: ControlAccess) => Promise<ControlHandler>;
}): Promise<SandboxServer<Order>> {
  const { inspector: from, token, ...address } = readOptions(options.at);
  const { serve, clock, maxBodyBytes } = options;
  let control: Promise<ControlHandler> | undefined;
  const server = await startHttpServer({
    ...address,
    maxBodyBytes: ({ url = '', headers }) =>
      url.startsWith(controlPath) && holdsToken(headers.authorization, token)
        ? maxControlBytes
        : maxBodyBytes,
    answer: answerRequests(async (request, connection) => {
      if (from === 'off' || !isControl(request)) return socketReply(await serve(request, connection), clock);
      control ??= options.loadControl({ path: controlPath, token, from });
      return (await control)(request, connection);
    }),
  });
  const { url } = server;
  let closed: Promise<void> | undefined;
  return Object.freeze({
    url,
    deployment: options.deploymentAt(url),
    inspectorUrl: `${url}${controlPath}#token=${token}`,
    token,
    close() {
      closed ??= server.close('at once').then(options.idle);
      return closed;
    },
  });
}

const controlPath = '/_sandbox/';
/** The limit of an edited copy. Callers without the token cannot fill the memory. */
const maxControlBytes = 2 * 1024 * 1024;

function holdsToken(authorization: string | undefined, token: string): boolean {
  try {
    requireToken(authorization, token);
    return true;
  } catch {
    return false;
  }
}

function isControl({ url }: Request): boolean {
  return `${new URL(url).pathname}/`.startsWith(controlPath);
}

const readOptions = defineOptions('listen', {
  port: integer({ default: 0, least: 0, most: 65_535 }),
  host: text({ default: '127.0.0.1' }),
  allowedHosts: textsOr(),
  inspector: oneOf(['loopback', 'any', 'off'], { default: 'loopback' }),
  token: (given = randomBytes(24).toString('base64url')) => {
    if (typeof given === 'string' && /^[\w-]{16,256}$/.test(given)) return given;
    throw invalidOption('token must be at least 16 of A-Z a-z 0-9 - _');
  },
} satisfies OptionTable<ListenOptions>);
