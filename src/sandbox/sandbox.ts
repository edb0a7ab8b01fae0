import type { CompleteDeployment } from '../deployment/define-deployment.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import type { SandboxDelivery } from './callbacks/delivery-queue.ts';
import type { ListenOptions, SandboxServer } from './http/listen.ts';
import type { SandboxMessage } from './messenger/messenger-registry.ts';
import type { SandboxOrderStep } from './orders/order-steps.ts';
import type { SandboxOrder } from './orders/sandbox-order.ts';
import type { SandboxCredentials, SandboxEmail } from './partners/partner-registry.ts';

/** Options of {@link Sandbox.fetch}: those of fetch, and the caller's IP. */
export type SandboxRequestInit = RequestInit & {
  /** IP address of the caller. @default '127.0.0.1' */
  ip?: string | undefined;
};

/** The simulated service, made by `createSandbox`. Its functions need no `this`. */
export interface Sandbox<Order = BuyOrder> {
  /** For clients that are given {@link Sandbox.fetch}: base URLs below `http://sandbox.localhost`. */
  readonly deployment: CompleteDeployment<Order>;
  /** The messenger's master key. */
  readonly masterKey: string;

  /**
   * Answers a request as the service would. Pass it wherever a `fetch` is accepted: only method, path, headers and body
   * matter, not the host. Rejects only for an invalid request, or if the signal is already aborted.
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

  /** Oldest first. */
  readonly orders: readonly SandboxOrder[];
  /**
   * Moves an order one step on at once, and posts the event of that step.
   *
   * @param order a `platform_order_ref`, or a `partner_order_id` that only one partner uses
   * @returns once the event was answered or given up: see `acknowledged`
   * @throws {ValidationError} (a rejection) for an unknown order, or a step that cannot follow
   */
  readonly advance: (order: string, step: SandboxOrderStep) => Promise<SandboxDelivery>;
  /** Every event posted or about to be, oldest first. */
  readonly deliveries: readonly SandboxDelivery[];
  /**
   * Posts the same text again, without waiting for other events.
   *
   * @throws {ValidationError} (a rejection) when no delivery has this id
   */
  readonly redeliver: (deliveryId: string) => Promise<SandboxDelivery>;
  /** Resolves when no event is outstanding: after `createOrder`, once its init event was answered or given up. */
  readonly idle: () => Promise<void>;

  /** Messages sent over the messenger, oldest first. */
  readonly messages: readonly SandboxMessage[];
}
