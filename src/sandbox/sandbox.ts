import type { CompleteDeployment } from '../deployment/define-deployment.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import type { SandboxClock } from './clock.ts';
import type { CallbackRetryPolicy, SandboxDelivery } from './events/delivery.ts';
import type { SandboxFaults } from './faults/fault-plan.ts';
import type { SandboxMessage } from './messenger/messenger-registry.ts';
import type { SandboxOrder, SandboxOrderStep } from './orders/order-registry.ts';
import type { OrderScenario } from './orders/order-scenarios.ts';
import type { SandboxCredentials } from './partners/fixed-partners.ts';
import type { SandboxEmail } from './partners/partner-registry.ts';
import type { ListenOptions, SandboxServer } from './server/listen.ts';
import type { SandboxTrace } from './trace.ts';

/** Options of {@link Sandbox.fetch}: those of fetch, and the caller's IP. */
export type SandboxRequestInit = RequestInit & {
  /** IP address of the caller. @default '127.0.0.1' */
  ip?: string | undefined;
};

/** The simulated service, made by `createSandbox`. Its functions need no `this`. */
export interface Sandbox<Order = BuyOrder> {
  /** Replays this sandbox: give it to another as the option `seed`. */
  readonly seed: string;
  /** For clients that are given {@link Sandbox.fetch}: base URLs below `https://sandbox.localhost`. */
  readonly deployment: CompleteDeployment<Order>;
  /**
   * Resolves when what the option `data` holds is there. Requests, `advance` and `play` wait for it by themselves;
   * lists are empty, and `openLink` and `order` throw, before. Rejects with the store's error.
   */
  readonly ready: () => Promise<void>;
  /** The messenger's master key. */
  readonly masterKey: string;

  /**
   * Answers a request as the service would. Pass it wherever a `fetch` is accepted: only method, path, headers and body
   * matter, not the host. Rejects only for an invalid request, if the signal is aborted, and for a fault: then with the
   * error that Node's fetch gives. Redirects are not followed.
   */
  readonly fetch: (input: string | URL | Request, init?: SandboxRequestInit) => Promise<Response>;
  /**
   * Starts an HTTP server around {@link Sandbox.fetch}; one sandbox can have several. The caller's IP is the
   * connection's: `X-Forwarded-For` is ignored. Rejects with the system's error, e.g. `EADDRINUSE`.
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

  /** The last ones, as many as `maxRemembered`, oldest first. */
  readonly orders: readonly SandboxOrder[];
  /**
   * Moves an order one step on at once, and posts the event of that step.
   *
   * @param order a `platform_order_ref`, or a `partner_order_id` that only one partner uses
   * @returns once the event was answered or given up: see `acknowledged`
   * @throws {ValidationError} (a rejection) for an unknown order, or a step that cannot follow
   */
  readonly advance: (order: string, step: SandboxOrderStep) => Promise<SandboxDelivery>;
  /**
   * Takes a new order through a scenario, with its events.
   *
   * @param order as in {@link Sandbox.advance}
   * @returns the events in the order in which they were posted, each answered or given up
   * @throws {ValidationError} (a rejection) for an unknown order or scenario, or an order that has gone on already
   */
  readonly play: (order: string, scenario: OrderScenario) => Promise<readonly SandboxDelivery[]>;
  /**
   * One order: cheaper than looking through {@link Sandbox.orders}.
   *
   * @param name as in {@link Sandbox.advance}
   * @throws {ValidationError} unless exactly one order has this name
   */
  readonly order: (name: string) => SandboxOrder;
  /** Events posted or about to be, oldest first: the last ones, as many as `maxRemembered`. */
  readonly deliveries: readonly SandboxDelivery[];
  /**
   * Posts the same text again, without waiting for other events.
   *
   * @throws {ValidationError} (a rejection) when no delivery has this id
   */
  readonly redeliver: (deliveryId: string) => Promise<SandboxDelivery>;
  /**
   * Resolves when no event is outstanding: after `createOrder`, once its init event was answered or given up. What waits
   * for the clock (`delay`, `callbackRetry`) is not waited for: see `clock.drain`.
   */
  readonly idle: () => Promise<void>;

  /** Messages sent over the messenger, oldest first. */
  readonly messages: readonly SandboxMessage[];

  /** What goes wrong on the wire. */
  readonly faults: SandboxFaults;
  /** Every request, reply, event and fault in order, secrets included. */
  readonly trace: SandboxTrace;
  /** The time inside the sandbox. */
  readonly clock: SandboxClock;
  readonly events: SandboxEvents;
  /**
   * Forgets everything, also in `data`: the sandbox is as if it had just been made, and draws the same keys again. Only
   * the time stays, and entries of the trace go on counting. Rejects with the store's error.
   */
  readonly reset: () => Promise<void>;
  /**
   * Forgets what waits for the clock, and resolves when the events under way were answered and everything is written to
   * `data`. Rejects with the store's error.
   */
  readonly close: () => Promise<void>;
}

/** How the sandbox posts events. */
export interface SandboxEvents {
  /**
   * From now on posts an event that is not acknowledged again (ledger: `callback-retry`).
   *
   * @throws {ConfigurationError} `invalid_option`
   */
  readonly retry: (policy: CallbackRetryPolicy) => void;
  /**
   * Posts a copy of an event, signed with a key that nobody issued: a receiver has to refuse it.
   *
   * @throws {ValidationError} (a rejection) when no delivery has this id
   */
  readonly forge: (deliveryId: string) => Promise<SandboxDelivery>;
  /**
   * Posts a copy of an event whose amount was changed after signing: a receiver has to refuse it.
   *
   * @throws {ValidationError} (a rejection) when no delivery has this id
   */
  readonly tamper: (deliveryId: string) => Promise<SandboxDelivery>;
}
