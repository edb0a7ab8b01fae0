import { randomBytes } from 'node:crypto';
import type { CompleteDeployment } from '../../deployment/define-deployment.ts';
import {
  defineOptions,
  integer,
  invalidOption,
  type OptionTable,
  oneOf,
  text,
} from '../../internal/options.ts';
import type { ControlAccess, ControlHandler } from './control/control-api.ts';
import type { ListenOptions, SandboxServer } from './sandbox.ts';
import { maxRequestBytes, type SandboxHandler } from './service/service.ts';
import { textsOr } from './settings/sandbox-options.ts';
import { answerRequests, startHttpServer } from './wire/http-server.ts';
import type { SandboxSleep } from './wire/transports.ts';
import { socketReply } from './wire/wire-reply.ts';

/** Starts a server. Rejects with the system's error, e.g. `EADDRINUSE`. */
export async function listen<Order>(options: {
  at: ListenOptions;
  serve: SandboxHandler;
  sleep: SandboxSleep;
  deploymentAt: (origin: string) => CompleteDeployment<Order>;
  idle: () => Promise<void>;
  loadControl: (access: Omit<ControlAccess, 'hasGivenKeys'>) => Promise<ControlHandler>;
}): Promise<SandboxServer<Order>> {
  const { inspector: from, token, ...address } = readOptions(options.at);
  const { serve, sleep } = options;
  let control: Promise<ControlHandler> | undefined;
  const server = await startHttpServer({
    ...address,
    maxBodyBytes: maxRequestBytes,
    answer: answerRequests(async (request, connection) => {
      if (from === 'off' || !isControl(request)) return socketReply(await serve(request, connection), sleep);
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
