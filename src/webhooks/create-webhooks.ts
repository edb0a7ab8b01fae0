import type { OrderEvent, OrderEventName, OrderEventOf } from '../events/order-event.ts';
import type { UnrecognizedEvent } from '../events/parse-order-event.ts';
import { type FetchRequest, handleFetch } from './fetch-handler.ts';
import { type EventHandler, Handlers } from './handlers.ts';
import { handleNode, type NodeRequest, type NodeResponse } from './node-handler.ts';
import { deliveryReceiver } from './receive-delivery.ts';
import type { ReceiveOutcome } from './receive-outcome.ts';
import { makeReporting } from './reporting.ts';
import {
  type BufferedRequest,
  type DeliveryRequest,
  plainHeaders,
  refusalResponse,
  responseTo,
  type WebhookEndpoint,
  type WebhookResponse,
} from './webhook-endpoint.ts';
import { readWebhooksOptions, type WebhooksOptions } from './webhooks-options.ts';

/** Receives signed order events: see {@link createWebhooks}. */
export interface Webhooks {
  /** Handles one published event. @throws {ConfigurationError} `duplicate_handler` */
  on<Name extends OrderEventName>(name: Name, handler: EventHandler<OrderEventOf<Name>>): Webhooks;
  /**
   * Handles every published event, before the handler of its name: if it throws, that one is not called, and both run
   * again at the next attempt. So it is the place of a journal or a check, and not of a deduplication of your own, whose
   * mark would outlive a failed attempt. @throws {ConfigurationError} `duplicate_handler`
   */
  onAny(handler: EventHandler<OrderEvent>): Webhooks;
  /**
   * Handles authentic bodies that are no published event, or cannot be read as one. Without it a durable inbox keeps
   * them as dead letters, and without such an inbox they are answered 500: `event_unrecognized`. What it returns from is
   * handled, and gone: keep the event, or throw. `partner-exchange learn --check` says how the service has drifted
   * (docs/guides/learn.md).
   *
   * `'ignore'` acknowledges events of other names, such as those of sell orders. A published event that cannot be read
   * stays a dead letter, or 500. @throws {ConfigurationError} `duplicate_handler`
   */
  onUnrecognized(handler: EventHandler<UnrecognizedEvent> | 'ignore'): Webhooks;
  /**
   * Receives a raw body from anywhere: queues, tests, other frameworks. Forged and failing deliveries are outcomes, not
   * exceptions.
   * @param request what the `credentials` function is told of it, if that is one
   * @throws {ConfigurationError} `raw_body_required` for a parsed object
   */
  receive(body: string | Uint8Array, request?: DeliveryRequest): Promise<ReceiveOutcome>;
  /** The mount for Hono, Next, Azure Functions, Bun, Deno and Workers. Bound, so it can be passed on as it is. */
  fetch(request: FetchRequest): Promise<Response>;
  /**
   * The mount for node:http, Express, NestJS on it, raw Fastify and Google Cloud Functions. Bound, so it can be passed on
   * as it is. Mount it before body parsers.
   */
  node(request: NodeRequest, response: NodeResponse): Promise<void>;
  /**
   * Says what to answer to a whole body from any other source. Bound, so it can be passed on as it is.
   * @throws {ConfigurationError} `raw_body_required` for a parsed object
   */
  answer(request: BufferedRequest): Promise<WebhookResponse>;
}

/**
 * Receives order events: verifies, narrows, drops duplicates, and calls your handlers.
 *
 * Answers 200 handled, stored or duplicate, 400 not a JSON object, 401 wrong signature, 405, 408 body too late, 413,
 * 500 handler failed or event unrecognized, 503 while another delivery of the same event is being handled, the store of
 * the inbox is down, or it cannot be verified now (ledger: `callback-reply`). Its bytes decide, whatever its headers say.
 * The first refusal with each code is a process warning that says what to do.
 *
 * @throws {ConfigurationError} for an option that is malformed or does not exist
 * @example
 * ```ts
 * const webhooks = createWebhooks({ credentials })
 *   .on('event.buy.credited.crypto', async (event) => {
 *     await orders.settle(event.partner_order_id, event.crypto_txn_hash);
 *   });
 * createServer(webhooks.node).listen(3000);
 * ```
 */
export function createWebhooks(options: WebhooksOptions): Webhooks {
  const settings = readWebhooksOptions(options);
  const handlers = new Handlers();
  const reporting = makeReporting(settings);
  const { receive, inboxHost } = deliveryReceiver(settings, handlers, reporting);
  const { inbox, maxBodyBytes, bodyTimeoutMs } = settings;
  inbox.attach?.(inboxHost);

  const endpoint: WebhookEndpoint = {
    maxBodyBytes,
    bodyTimeoutMs,
    receive,
    refuse(code) {
      const response = refusalResponse(code);
      reporting.delivery({ stage: 'receive', outcome: 'refused', status: response.status, code });
      reporting.refusal(code);
      return response;
    },
  };

  const webhooks: Webhooks = {
    on(name, handler) {
      handlers.on(name, handler);
      return webhooks;
    },
    onAny(handler) {
      handlers.onAny(handler);
      return webhooks;
    },
    onUnrecognized(handler) {
      handlers.onUnrecognized(handler);
      return webhooks;
    },
    receive: (body, { url, headers } = {}) =>
      receive(body, { url, headers: headers && plainHeaders(headers) }),
    fetch: (request) => handleFetch(request, endpoint),
    node: (request, response) => handleNode(request, response, endpoint),
    // Without a time limit, since the body has arrived. The length that a header declares does not count.
    async answer(request) {
      if (request.method !== 'POST') return endpoint.refuse('method_not_allowed');
      return responseTo(await webhooks.receive(request.body, request));
    },
  };
  return webhooks;
}
