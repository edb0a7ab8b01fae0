import type { CompleteDeployment } from '../../deployment/define-deployment.ts';
import type { BuyOrder } from '../../deployment/order-schema.ts';
import type { OrderScenario } from './service/order-scenarios.ts';
import type { SandboxCredentials } from './settings/fixed-partners.ts';
import type { SandboxClock } from './world/clock.ts';
import type { SandboxDelivery } from './world/delivery.ts';
import type { SandboxFaults } from './world/fault-plan.ts';
import type { SandboxMessage } from './world/messenger-registry.ts';
import type { SandboxOrder, SandboxOrderStep } from './world/order-registry.ts';
import type { SandboxEmail } from './world/partner-registry.ts';
import type { SandboxTrace } from './world/trace.ts';

/** The options of fetch, and the caller's IP. @inline */
export type SandboxRequestInit = RequestInit & {
  /** IP address of the caller. @default '127.0.0.1' */
  ip?: string | undefined;
};

/** The simulated service, made by `createSandbox`. Its functions need no `this`. */
export interface Sandbox<Order = BuyOrder> {
  /** Pass it to another sandbox as the option `seed` to replay this one. */
  readonly seed: string;
  /** The deployment for clients that use {@link Sandbox.fetch}: its base URLs are below `https://sandbox.localhost`. */
  readonly deployment: CompleteDeployment<Order>;
  /** The messenger's master key. */
  readonly masterKey: string;

  /**
   * Answers a request as the service would. Pass it wherever a `fetch` is accepted: it uses method, path, headers
   * and body, and ignores the host. Rejects for an invalid request, for an aborted signal, and for a fault with the
   * error of Node's fetch. Redirects are not followed.
   */
  readonly fetch: (input: string | URL | Request, init?: SandboxRequestInit) => Promise<Response>;
  /**
   * Starts an HTTP server around {@link Sandbox.fetch}; one sandbox can have several. The caller's IP is that of the
   * connection: `X-Forwarded-For` is ignored. Rejects with the system's error, e.g. `EADDRINUSE`.
   */
  readonly listen: (options?: ListenOptions) => Promise<SandboxServer<Order>>;

  /** Mails to the partners, oldest first. */
  readonly emails: readonly SandboxEmail[];
  /**
   * Opens a one-time link as the partner would in a browser.
   *
   * @throws {ValidationError} if the link was used, was replaced, or never existed
   */
  readonly openLink: (link: string | URL) => SandboxCredentials;
  /** Captured IPs. */
  readonly whitelistedIps: readonly string[];

  /** The last orders, at most `maxRemembered`, oldest first. */
  readonly orders: readonly SandboxOrder[];
  /**
   * Moves an order one step on, and posts the event of that step.
   *
   * @param order a `platform_order_ref`, or a `partner_order_id` that only one partner uses
   * @returns when the event was answered or given up: see `acknowledged`
   * @throws {ValidationError} (a rejection) for an unknown order, or a step that cannot follow
   */
  readonly advance: (order: string, step: SandboxOrderStep) => Promise<SandboxDelivery>;
  /**
   * Takes a new order through a scenario, with its events.
   *
   * @param order as in {@link Sandbox.advance}
   * @returns the events in the order in which they were posted, each answered or given up
   * @throws {ValidationError} (a rejection) for an unknown order or scenario, or an order that is not new
   */
  readonly play: (order: string, scenario: OrderScenario) => Promise<readonly SandboxDelivery[]>;
  /**
   * One order, without a search through {@link Sandbox.orders}.
   *
   * @param name as in {@link Sandbox.advance}
   * @throws {ValidationError} unless exactly one order has this name
   */
  readonly order: (name: string) => SandboxOrder;
  /** The last events, posted or pending, at most `maxRemembered`, oldest first. */
  readonly deliveries: readonly SandboxDelivery[];
  /**
   * Posts an event once more, at once: the same text, or a copy that a receiver has to refuse, `forged` (signed with a
   * key that was never issued) or `tampered` (changed after signing).
   *
   * @param as `again` by default
   * @throws {ValidationError} (a rejection) when no delivery has this id
   */
  readonly redeliver: (deliveryId: string, as?: 'again' | 'forged' | 'tampered') => Promise<SandboxDelivery>;
  /**
   * Resolves when no event is outstanding: after `createOrder`, when its init event was answered or given up. Does
   * not wait for events that wait for the clock (`delay`, `callbackRetry`): see `clock.drain`.
   */
  readonly idle: () => Promise<void>;

  /** Messages sent over the messenger, oldest first. */
  readonly messages: readonly SandboxMessage[];

  /** The faults on the wire. */
  readonly faults: SandboxFaults;
  /** Every request, reply, event and fault in order, secrets included. */
  readonly trace: SandboxTrace;
  /** The time inside the sandbox. */
  readonly clock: SandboxClock;
  /**
   * Forgets everything, and draws the same keys again. The time and the numbering of the trace go on. Rejects with the
   * error of `onReset`.
   */
  readonly reset: () => Promise<void>;
  /** Drops work that waits for the clock, and resolves when current events are answered. */
  readonly close: () => Promise<void>;
}

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
   * (`any`, for a container; then reading needs the token, too), or no caller (`off`). @default 'loopback'
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
  /**
   * The token of requests below `/_sandbox/` that change something, and of all of them where the sandbox was given keys:
   * the header `Authorization: Bearer <token>`.
   */
  readonly token: string;
  /**
   * Stops listening, closes every connection, and waits for current events. The sandbox stays usable. A second call
   * waits for the first.
   */
  close(): Promise<void>;
}
