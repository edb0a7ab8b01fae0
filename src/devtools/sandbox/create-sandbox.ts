import { type CompleteDeployment, defineDeployment } from '../../deployment/define-deployment.ts';
import type { BuyOrder } from '../../deployment/order-schema.ts';
import { ValidationError } from '../../errors/errors.ts';
import type { Sandbox, SandboxRequestInit } from './sandbox.ts';
import { listen } from './sandbox-server.ts';
import { messengerHandlers } from './service/messenger-routes.ts';
import { orderHandlers } from './service/order-routes.ts';
import { advanceOrder, playOrder } from './service/order-scenarios.ts';
import { linkRoute, partnerHandlers, signRequestRoute } from './service/partner-routes.ts';
import { postAgain, postEvent } from './service/post-event.ts';
import { operationRoutes, sandboxHandler } from './service/service.ts';
import type { SandboxCredentials } from './settings/fixed-partners.ts';
import { readSandboxOptions, type SandboxOptions } from './settings/sandbox-options.ts';
import { Refusal } from './wire/requests.ts';
import { createState, resetState, type SandboxState } from './world/state.ts';

/**
 * Simulates the service of the contract: all operations, in memory. Each sandbox has its own partners, orders, devices
 * and logs: make a new one for each test. `sandbox.faults` makes it hostile.
 *
 * Where the contract is silent, it does what the options say, or makes the choices that docs/details/sandbox.md lists.
 *
 * @throws {ConfigurationError} for an option that is malformed or unknown
 * @example
 * ```ts
 * const sandbox = createSandbox();
 * const server = await sandbox.listen();
 * const client = new ExchangeClient({ deployment: server.deployment });
 * await client.onboard({ partner_code: 'acme', email: 'dev@acme.example' });
 * const credentials = sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
 * await server.close();
 * ```
 */
export function createSandbox<Order = BuyOrder>(options: SandboxOptions<Order> = {}): Sandbox<Order> {
  const checked = readSandboxOptions(options);
  const deploymentAt = (origin: string) => deploymentOf(options, origin);
  const deployment = deploymentAt('https://sandbox.localhost');
  const state = createState(deployment, checked);
  const handlers = { ...partnerHandlers, ...orderHandlers, ...messengerHandlers };
  const routes = [...operationRoutes(deployment, handlers), signRequestRoute(deployment), linkRoute];
  const serve = sandboxHandler(state, routes);
  const { clock, deliveryQueue } = state;
  const { seed } = checked;

  const sandboxFetch = async (input: string | URL | Request, init?: SandboxRequestInit) => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    const reply = await serve(request, { ip: init?.ip ?? '127.0.0.1' });
    request.signal.throwIfAborted();
    return reply.transport.fetch(reply, { signal: request.signal, sleep: clock.sleep, seed });
  };

  const sandbox: Sandbox<Order> = Object.freeze({
    seed,
    deployment,
    masterKey: state.masterKey,
    fetch: sandboxFetch,
    listen: (at = {}) =>
      listen({
        at,
        serve,
        sleep: clock.sleep,
        deploymentAt,
        // Loaded on first use, so that a test of the service alone does not pay for it.
        loadControl: async (access) => {
          const { controlHandler } = await import('./control/control-api.ts');
          const { sandboxEndpoints } = await import('./control/sandbox-endpoints.ts');
          const hasGivenKeys = checked.partners.length > 0 || checked.masterKey !== undefined;
          return controlHandler({ ...access, hasGivenKeys }, sandboxEndpoints(sandbox, state));
        },
        idle: () => deliveryQueue.idle(),
      }),
    get emails() {
      return state.partners.emails;
    },
    openLink: (link) => openLink(state, link),
    get whitelistedIps() {
      return [...state.whitelist];
    },
    get orders() {
      return state.orders.all;
    },
    advance: async (order, step) => postEvent(state, advanceOrder(state, order, step)).delivery,
    play: (order, scenario) => playOrder(state, order, scenario),
    order: (name) => state.orders.find(name),
    get deliveries() {
      return deliveryQueue.deliveries;
    },
    redeliver: async (deliveryId, as = 'again') => postAgain(state, deliveryId, as),
    idle: () => deliveryQueue.idle(),
    get messages() {
      return state.messenger.messages;
    },

    faults: state.faults.controls,
    trace: state.trace.view,
    clock,
    async reset() {
      resetState(state);
      await checked.onReset();
    },
    async close() {
      clock.stop();
      await deliveryQueue.idle();
      // Events refused in the meantime would be posted again.
      clock.stop();
    },
  } satisfies Sandbox<Order>);
  return sandbox;
}

function deploymentOf<Order>(options: SandboxOptions<Order>, origin: string): CompleteDeployment<Order> {
  const deployment = defineDeployment<Order>({
    ...options.deployment,
    onboardingBaseUrl: `${origin}/onboarding`,
    stagingUrl: `${origin}/staging`,
    messengerBaseUrl: `${origin}/messenger`,
    // `listen` may use an address that other machines reach.
    allowInsecureHttp: true,
  });
  // Sound: all three base URLs are given above.
  return deployment as CompleteDeployment<Order>;
}

function openLink(state: SandboxState, link: string | URL): SandboxCredentials {
  try {
    return state.partners.open(state.partners.tokenOf(link));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new ValidationError('The link', [{ path: [], message: error.message }]);
  }
}
