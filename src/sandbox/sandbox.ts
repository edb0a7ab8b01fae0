import type { CompleteDeployment } from '../deployment/define-deployment.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import type { SandboxDelivery } from './callbacks/delivery-queue.ts';
import type { ListenOptions, SandboxServer } from './http/listen.ts';
import type { SandboxMessage } from './messenger/messenger-registry.ts';
import type { SandboxOrderStep } from './orders/order-steps.ts';
import type { SandboxOrder } from './orders/sandbox-order.ts';
import type { SandboxCredentials, SandboxEmail } from './partners/partner-registry.ts';

/** Options of {@link Sandbox.fetch}: those of the platform's fetch, and who calls. */
export type SandboxRequestInit = RequestInit & {
  /** IP address of the caller. @default '127.0.0.1' */
  ip?: string | undefined;
};

/** The service, simulated; made by `createSandbox`. Its functions need no `this`. */
export interface Sandbox<Order = BuyOrder> {
  /** For clients that are given {@link Sandbox.fetch}: base URLs below `http://sandbox.localhost`. */
  readonly deployment: CompleteDeployment<Order>;
  /** The messenger's master key. */
  readonly masterKey: string;

  /**
   * Answers a request as the service would. Fits wherever a `fetch` is taken: only method, path, headers and
   * body count, not the host. Rejects only for what is no request, and for a signal that is aborted already.
   */
  readonly fetch: (input: string | URL | Request, init?: SandboxRequestInit) => Promise<Response>;
  /**
   * Starts an HTTP server around {@link Sandbox.fetch}; one sandbox can have several. The caller's IP is that of
   * the connection: `X-Forwarded-For` is not believed. Rejects with the system's error, e.g. `EADDRINUSE`.
   */
  readonly listen: (options?: ListenOptions) => Promise<SandboxServer<Order>>;

  /** Mails to the partners, oldest first. */
  readonly emails: readonly SandboxEmail[];
  /**
   * Opens a one-time link as the partner would in a browser.
   *
   * @throws {ValidationError} for a link that was used, replaced or never sent
   */
  readonly openLink: (link: string | URL) => SandboxCredentials;
  /** Captured IPs. */
  readonly whitelistedIps: readonly string[];

  /** Oldest first. */
  readonly orders: readonly SandboxOrder[];
  /**
   * Takes an order a step further at once, and posts the step's event.
   *
   * @param order a `platform_order_ref`, or a `partner_order_id` that only one partner uses
   * @returns once the event was answered or given up; look at `acknowledged`
   * @throws {ValidationError} (a rejection) for an unknown order, and for a step that cannot follow
   */
  readonly advance: (order: string, step: SandboxOrderStep) => Promise<SandboxDelivery>;
  /** Every event posted or about to be, oldest first. */
  readonly deliveries: readonly SandboxDelivery[];
  /**
   * Posts the very same text again, without waiting for other events.
   *
   * @throws {ValidationError} (a rejection) when no delivery has this id
   */
  readonly redeliver: (deliveryId: string) => Promise<SandboxDelivery>;
  /** Resolves when no event is under way: after `createOrder`, when its init event was answered or given up. */
  readonly idle: () => Promise<void>;

  /** Messages sent over the messenger, oldest first. */
  readonly messages: readonly SandboxMessage[];
}
