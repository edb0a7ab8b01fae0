import { createHash } from 'node:crypto';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import type { Deployment } from '../deployment/define-deployment.ts';
import { checkScheme, defaultScheme, type SignatureScheme } from '../deployment/signature-scheme.ts';
import { fromWireNames } from '../deployment/wire-names.ts';
import { ConfigurationError } from '../errors/configuration-error.ts';
import { InboxError, isInboxError } from '../errors/inbox-error.ts';
import { isSignatureError } from '../errors/signature-error.ts';
import { warn } from '../errors/warn.ts';
import { decimalLiteral } from '../events/decimal-literal.ts';
import type { OrderEvent, OrderEventName, OrderEventOf } from '../events/order-event.ts';
import { parseOrderEvent } from '../events/parse-order-event.ts';
import { decodeBody } from '../signature/decode-body.ts';
import { rereadBody } from '../signature/reread-body.ts';
import { type VerifiedBody, verifyBody } from '../signature/verify-body.ts';
import { parsedBodyAdvice } from './answer.ts';
import type { DeliveryReport } from './delivery-report.ts';
import { handleFetch, type Receiver } from './fetch-handler.ts';
import { type EventContext, type EventHandler, Handlers, type UnrecognizedEvent } from './handlers.ts';
import { type HandleDelivery, type Inbox, type InboxResult, inboxResults } from './inbox.ts';
import { type KeyRing, keyRingOf, keyRingOfKeys } from './key-ring.ts';
import { memoryDeduplication } from './memory-deduplication.ts';
import { handleNode, type NodeRequest, type NodeResponse } from './node-handler.ts';
import { type DeliveryReference, type Outcome, statusOfRefusal } from './outcome.ts';
import { longestTimerMs } from './time-limit.ts';

export interface WebhooksOptions {
  /** One set of credentials, or several: generations during a rotation, or partners. */
  credentials?: PartnerCredentials | readonly PartnerCredentials[] | undefined;
  /** Verification keys as they are, in place of `credentials`, for a deployment that combines secrets differently. */
  keys?: readonly string[] | undefined;
  /** Its signature scheme and wire names. @default the default scheme, the published names */
  deployment?: Pick<Deployment, 'signature' | 'wireNames'> | undefined;
  /** @default digests in memory, handled before it is acknowledged */
  inbox?: Inbox | undefined;
  /** Bytes of a body at most; enforced while it is read. @default 262144 */
  maxBodyBytes?: number | undefined;
  /**
   * Milliseconds that a body may take to arrive, from the moment the webhooks are called; then 408. A framework that
   * reads the body first has a limit of its own. @default 10000
   */
  bodyTimeoutMs?: number | undefined;
  /** How many handled deliveries the memory keeps in mind. Not used with an `inbox`. @default 10000 */
  maxRemembered?: number | undefined;
  /** Milliseconds until a handler is cut off and answered with 500. Not used with an `inbox`. @default 60000 */
  timeLimitMs?: number | undefined;
  /** Learns why a handler (or the inbox) failed; the answer does not wait for it. @default console.error */
  onError?: ((error: unknown, delivery: DeliveryReference) => unknown) | undefined;
  /**
   * Learns the fate of every delivery, with timings: for metrics. Nothing waits for it, and what it throws is warned
   * of and dropped. What is refused before its body is read is not reported.
   */
  onDelivery?: ((report: DeliveryReport) => unknown) | undefined;
}

/** Receives signed order events: see {@link createWebhooks}. */
export interface Webhooks {
  /** Handles one published event. @throws {ConfigurationError} `duplicate_handler` */
  on<Name extends OrderEventName>(name: Name, handler: EventHandler<OrderEventOf<Name>>): Webhooks;
  /** Handles every published event, after the handler of its name. @throws {ConfigurationError} `duplicate_handler` */
  onAny(handler: EventHandler<OrderEvent>): Webhooks;
  /**
   * Handles authentic bodies that are no published event or not in its shape. Without it they are acknowledged,
   * with one process warning for each name. @throws {ConfigurationError} `duplicate_handler`
   */
  onUnrecognized(handler: EventHandler<UnrecognizedEvent>): Webhooks;
  /**
   * Takes a raw body from anywhere: queues, tests, other frameworks. Forged and failing deliveries are outcomes,
   * not exceptions. @throws {ConfigurationError} `raw_body_required` for a parsed object
   */
  receive(body: string | Uint8Array): Promise<Outcome>;
  /** For Hono, Next, Bun, Deno and Workers. Bound: can be passed on as it is. */
  fetch(request: Request): Promise<Response>;
  /** For node:http, Express and raw Fastify. Bound: can be passed on as it is. Mount it before body parsers. */
  node(request: NodeRequest, response: NodeResponse): Promise<void>;
}

const defaults = {
  maxBodyBytes: 262_144,
  bodyTimeoutMs: 10_000,
  maxRemembered: 10_000,
  rememberMs: 30 * 24 * 60 * 60 * 1000,
  timeLimitMs: 60_000,
  busyRetryAfterMs: 5_000,
  unavailableRetryAfterMs: 10_000,
} as const;

/**
 * A receiver of order events: verifies, narrows, drops duplicates, and calls your handlers.
 *
 * Answers 200 handled or duplicate, 400 not a JSON object, 401 wrong signature, 405, 413, 415, 500 handler failed,
 * 503 while another delivery of the same event is being handled, or the store of the inbox is down (ledger:
 * `callback-reply`).
 *
 * @throws {ConfigurationError} for unsound options
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
  const scheme = checkScheme(options?.deployment?.signature ?? defaultScheme);
  // Under these, bodies that mean different things can be signed alike.
  const joined = scheme.serialization === 'query' || scheme.serialization.startsWith('values');
  const ring = resolveKeys(options, scheme);
  const wireNames = options.deployment?.wireNames ?? {};
  const maxBodyBytes = positive('maxBodyBytes', options.maxBodyBytes ?? defaults.maxBodyBytes);
  const bodyTimeoutMs = positive('bodyTimeoutMs', options.bodyTimeoutMs ?? defaults.bodyTimeoutMs);
  const maxRemembered = positive('maxRemembered', options.maxRemembered ?? defaults.maxRemembered);
  const timeLimitMs = positive('timeLimitMs', options.timeLimitMs ?? defaults.timeLimitMs);
  if (timeLimitMs > longestTimerMs) throw invalid(`timeLimitMs must be at most ${longestTimerMs}.`);
  const { rememberMs } = defaults;
  const inbox =
    options.inbox ?? memoryDeduplication({ maxRemembered, rememberMs, timeLimitMs, now: Date.now });
  if (typeof inbox.receive !== 'function') throw invalid('inbox needs a receive function.');
  const onError = options.onError ?? logFailure;
  if (typeof onError !== 'function') throw invalid('onError must be a function.');
  const { onDelivery } = options;
  if (onDelivery !== undefined && typeof onDelivery !== 'function') {
    throw invalid('onDelivery must be a function.');
  }
  const handlers = new Handlers();

  async function receive(body: string | Uint8Array): Promise<Outcome> {
    const begun = performance.now();
    const outcome = await decide(body);
    if (onDelivery !== undefined) {
      const { name, digest, code } = { name: undefined, digest: undefined, code: undefined, ...outcome };
      const durationMs = performance.now() - begun;
      void observe({ stage: 'receive', fate: outcome.kind, name, digest, code, durationMs });
    }
    return outcome;
  }

  async function decide(body: string | Uint8Array): Promise<Outcome> {
    if (exceeds(body, maxBodyBytes)) return { kind: 'refused', status: 413, code: 'body_too_large' };
    let verified: VerifiedBody;
    try {
      verified = verifyBody(body, { key: ring.keys, scheme });
    } catch (error) {
      if (!isSignatureError(error)) throw error;
      return { kind: 'refused', status: statusOfRefusal(error.code), code: error.code, error };
    }
    return await dispatch(body, verified);
  }

  async function dispatch(
    body: string | Uint8Array,
    { value, text, keyIndex }: VerifiedBody,
  ): Promise<Outcome> {
    const parsed = parseOrderEvent(fromWireNames(value, wireNames));
    const name = parsed.kind === 'known' ? parsed.event.event_name : parsed.name;
    const identity = joined ? decodeBody(body) : text;
    const digest = createHash('sha256').update(identity).digest('hex');
    // Every key has a label at the same place.
    const reference: DeliveryReference = { name, digest, key: ring.labels[keyIndex] ?? { index: keyIndex } };
    // A receiver without any handler may be one that stores for another process.
    const elsewhere = inbox.handles === 'elsewhere' && !handlers.any;
    const work = elsewhere ? unhandled : handlers.find(parsed, contextOf(reference, text));
    if (work === undefined) return { kind: 'ignored', status: 200, ...reference };
    const delivery = { ...reference, body: decodeBody(body) };
    try {
      const kind = checkResult(await inbox.receive(delivery, work));
      if (kind !== 'busy') return { kind, status: 200, ...reference };
      return { kind, status: 503, retryAfterMs: defaults.busyRetryAfterMs, ...reference };
    } catch (error) {
      void reportError(error, reference);
      if (!isStoreFailure(error)) return { kind: 'failed', status: 500, error, ...reference };
      const retryAfterMs = defaults.unavailableRetryAfterMs;
      return { kind: 'unavailable', status: 503, retryAfterMs, error, ...reference };
    }
  }

  inbox.attach?.({
    async handle({ body, name, digest, key }, handleOptions) {
      const { value, text } = rereadBody(body, scheme);
      const parsed = parseOrderEvent(fromWireNames(value, wireNames));
      const work = handlers.find(parsed, contextOf({ name, digest, key }, text)) ?? unhandled;
      await work(handleOptions);
    },
    report({ name, digest, key }, { fate, attempt, durationMs, waitedMs, error }) {
      if (fate !== 'handled') void reportError(error, { name, digest, key });
      void observe({ stage: 'handle', fate, name, digest, durationMs, waitedMs, attempt });
    },
  });

  async function reportError(error: unknown, reference: DeliveryReference): Promise<void> {
    try {
      await onError(error, reference);
    } catch {
      warn('onError failed; the delivery is answered with 500 all the same.');
    }
  }

  let observerWarned = false;
  async function observe(report: DeliveryReport): Promise<void> {
    try {
      await onDelivery?.(report);
    } catch {
      // Once: it is likely to fail for every delivery.
      if (!observerWarned) warn('onDelivery failed; the answers are not affected.');
      observerWarned = true;
    }
  }

  let warned = false;
  function reportParsedBody(): void {
    // Once: whoever can reach the address could fill the log otherwise.
    if (!warned) warn(parsedBodyAdvice);
    warned = true;
  }

  const receiver: Receiver = { maxBodyBytes, bodyTimeoutMs, receive, reportParsedBody };
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
    receive,
    fetch: (request) => handleFetch(request, receiver),
    node: (request, response) => handleNode(request, response, receiver),
  };
  return webhooks;
}

function contextOf(reference: DeliveryReference, text: string): EventContext {
  return { ...reference, text, decimal: (path) => decimalLiteral(text, path) };
}

/** The work on a stored delivery that nothing is registered for: it must not count as handled. */
const unhandled: HandleDelivery = async () => {
  throw new InboxError(
    'no_handler',
    'Nothing is registered for a stored delivery. Register every handler before anything is awaited, and the ' +
      'same ones where deliveries are received and where they are handled.',
  );
};

function isStoreFailure(error: unknown): boolean {
  return isInboxError(error) && ['store_unavailable', 'store_full', 'inbox_stopped'].includes(error.code);
}

function resolveKeys(options: WebhooksOptions, scheme: SignatureScheme): KeyRing {
  if ((options?.credentials === undefined) === (options?.keys === undefined)) {
    throw invalid('createWebhooks needs either credentials or keys.');
  }
  return options.keys === undefined
    ? keyRingOf(options.credentials ?? [], scheme)
    : keyRingOfKeys(options.keys);
}

/** Cheap for most: UTF-8 takes one to three bytes for each unit of text. */
function exceeds(body: string | Uint8Array, maxBytes: number): boolean {
  // A parsed object or null has no length; it is refused for what it is when it is verified.
  if (typeof body !== 'string') return body?.byteLength > maxBytes;
  return body.length > maxBytes || (body.length * 3 > maxBytes && Buffer.byteLength(body) > maxBytes);
}

function positive(name: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value;
  throw invalid(`${name} must be a whole number of at least 1.`);
}

/** An inbox of the user's may answer anything: only what it is known to have kept is acknowledged. */
function checkResult(result: InboxResult): InboxResult {
  if (inboxResults.includes(result)) return result;
  throw invalid(`inbox.receive must resolve with one of ${inboxResults.join(', ')}.`);
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_option', message);
}

function logFailure(error: unknown, { name, digest }: DeliveryReference): void {
  console.error(
    `The webhook handler for ${JSON.stringify(name)} (delivery ${digest.slice(0, 12)}) failed:`,
    error,
  );
}
