import type { VerificationKey } from '../credentials/verification-keys.ts';
import { failureCode, isInboxError, isKeyError, isSignatureError } from '../errors/errors.ts';
import { orderEventNames } from '../events/event-names.ts';
import type { OrderEventName } from '../events/order-event.ts';
import { isUnrecognizedError } from '../inbox/handling-attempt.ts';
import {
  type Delivery,
  type DeliveryReference,
  type HandleOptions,
  type HandleResult,
  type InboxHost,
  inboxResults,
} from '../inbox/inbox.ts';
import { hash } from '../internal/hash.ts';
import { invalidOption } from '../internal/options.ts';
import { readTraceparent, traced } from '../internal/tracing.ts';
import { pinnedText } from '../signature/serializations.ts';
import { byteLengthOf, decodeBody } from '../signature/signed-body.ts';
import { readUnverifiedBody, type UnverifiedBody } from '../signature/verify-body.ts';
import type { Handlers } from './handlers.ts';
import { quarantinedDeliveries } from './quarantined-deliveries.ts';
import type { ReceiveOutcome } from './receive-outcome.ts';
import { type ReceivedEvent, readEvent } from './received-event.ts';
import type { Reporting } from './reporting.ts';
import { type DeliveryRequest, traceparentOf } from './webhook-endpoint.ts';
import type { WebhooksSettings } from './webhooks-options.ts';

/** Milliseconds until the sender should try again. */
const retryAfter = Object.freeze({ busy: 5_000, unavailable: 10_000 });

/** A delivery whose signature is correct. */
interface VerifiedDelivery {
  readonly event: ReceivedEvent;
  /** The text of its body. */
  readonly body: string;
  readonly reference: DeliveryReference;
}

/** Makes `receive` for requests, and the host that handles stored deliveries. */
export function deliveryReceiver(settings: WebhooksSettings, handlers: Handlers, reporting: Reporting) {
  const { scheme, findSigner, ring, inbox, maxBodyBytes } = settings;
  const handling = deliveryHandling(settings, handlers, reporting);

  function receive(body: string | Uint8Array, request: DeliveryRequest): Promise<ReceiveOutcome> {
    const sent = traceparentOf(request);
    return traced<DeliveryTrace, ReceiveOutcome>(
      'delivery',
      () => ({
        start: () => ({ traceparent: sent }),
        result: ({ kind: outcome, status, name, code }) => {
          const event = name === undefined ? undefined : publishedName(name);
          return { event, outcome, status, code };
        },
        failure: (error) => ({ code: failureCode(error) }),
      }),
      // A subscriber may have begun a trace of its own at the start, which the delivery then carries on.
      (trace) => receiveTraced(body, request, trace ? readTraceparent(trace.traceparent) : sent),
    );
  }

  async function receiveTraced(
    body: string | Uint8Array,
    request: DeliveryRequest,
    traceparent: string | undefined,
  ): Promise<ReceiveOutcome> {
    const startedAt = performance.now();
    const outcome = await outcomeOf(body, request, traceparent);
    const { kind, status, name, digest, code, readings } = outcome;
    const durationMs = performance.now() - startedAt;
    reporting.delivery({ stage: 'receive', outcome: kind, status, name, digest, code, readings, durationMs });
    return outcome;
  }

  async function outcomeOf(
    body: string | Uint8Array,
    request: DeliveryRequest,
    traceparent: string | undefined,
  ): Promise<ReceiveOutcome> {
    let verified: VerifiedDelivery;
    try {
      if (byteLengthOf(body) > maxBodyBytes) {
        reporting.refusal('body_too_large');
        return { kind: 'refused', status: 413, code: 'body_too_large' };
      }
      const text = decodeBody(body);
      const claimed = readUnverifiedBody(text, scheme);
      verified = handling.toVerified(text, claimed, await findSigner(claimed, request));
    } catch (error) {
      return await refuse(body, error);
    }
    // After that `try`: a SignatureError of a handler is a failed handler, not a forgery.
    return await deliver(verified, traceparent);
  }

  async function refuse(body: string | Uint8Array, error: unknown): Promise<ReceiveOutcome> {
    if (isKeyError(error)) {
      const { code, retryAfterMs = retryAfter.unavailable } = error;
      reporting.unverified(body, error);
      // The body may be authentic, so the sender should send it again. It may never do so.
      const kept = await quarantined.keep(body);
      return { kind: 'unverified', status: 503, retryAfterMs, code, error, quarantined: kept };
    }
    if (!isSignatureError(error)) throw error;
    const { code } = error;
    reporting.refusedBody(body, error);
    return { kind: 'refused', status: code.startsWith('body_') ? 400 : 401, code, error };
  }

  async function deliver(
    { event, body, reference }: VerifiedDelivery,
    traceparent: string | undefined,
  ): Promise<ReceiveOutcome> {
    const delivery: Delivery = { ...reference, body, ...(traceparent !== undefined && { traceparent }) };
    const facts = event.readings.length > 0 ? { ...reference, readings: event.readings } : reference;
    try {
      const kind = await inbox.receive(delivery, (options) => handling.handle(delivery, event, options));
      // A user's own inbox may return anything: only what says that it was kept is acknowledged.
      if (!inboxResults.includes(kind))
        throw invalidOption(`inbox.receive must resolve with one of ${inboxResults.join(', ')}.`);
      if (kind !== 'busy') return { kind, status: 200, ...facts };
      return { kind, status: 503, retryAfterMs: retryAfter.busy, ...facts };
    } catch (error) {
      const failed = { code: failureCode(error), error, ...facts };
      if (isUnrecognizedError(error)) {
        reporting.unrecognized(reference.name, error);
        return { kind: 'unrecognized', status: 500, ...failed };
      }
      reporting.error(error, reference);
      if (!isStoreFailure(error)) return { kind: 'failed', status: 500, ...failed };
      return { kind: 'unavailable', status: 503, retryAfterMs: retryAfter.unavailable, ...failed };
    }
  }

  const quarantined = quarantinedDeliveries({
    quarantine: inbox.quarantine,
    ring,
    scheme,
    reporting,
    accept: (body, claimed, key) => deliver(handling.toVerified(body, claimed, key), undefined),
  });

  return { receive, inboxHost: handling.makeHost(quarantined.review) };
}

/** Handles deliveries: those of requests at once, and stored ones for an inbox. */
function deliveryHandling(settings: WebhooksSettings, handlers: Handlers, reporting: Reporting) {
  const { scheme } = settings;

  function toVerified(body: string, claimed: UnverifiedBody, key: VerificationKey): VerifiedDelivery {
    const event = readEvent(claimed, settings);
    const { parsed } = event;
    const name = parsed.kind === 'known' ? parsed.event.event_name : parsed.name;
    const digest = deliveryDigest(key.partner, pinnedText(scheme, claimed));
    return { event, body, reference: { name, digest, key: key.matched } };
  }

  /** @throws {InboxError} `event_unrecognized`; and whatever a handler throws */
  function handle(
    delivery: Delivery,
    event: ReceivedEvent,
    options: HandleOptions = {},
  ): Promise<HandleResult> {
    const { name, traceparent } = delivery;
    return traced<DeliveryTrace, HandleResult>(
      'handle',
      () => ({
        start: () => ({ traceparent, event: publishedName(name), attempt: options.attempt }),
        result: (outcome) => ({ outcome }),
        failure: (error) => {
          const outcome = isUnrecognizedError(error) ? 'unrecognized' : 'failed';
          return { outcome, code: failureCode(error) };
        },
      }),
      () => handlers.handle(event, delivery, options),
    );
  }

  const makeHost = (review: () => Promise<void>): InboxHost => ({
    get hasHandlers() {
      return handlers.hasAny;
    },
    review,
    // It was verified before it was stored; its keys may have been rotated since.
    handle: async (delivery, options) =>
      handle(delivery, readEvent(readUnverifiedBody(delivery.body, scheme), settings), options),
    report({ name, digest, key }, result) {
      const { attempt, durationMs, waitedMs, error } = result;
      // Not `error !== undefined`: a handler may throw undefined.
      const code = 'error' in result ? failureCode(error) : undefined;
      const isUnread = isUnrecognizedError(error);
      if (isUnread) reporting.unrecognized(name, error);
      else if (code !== undefined) reporting.error(error, { name, digest, key });
      const outcome = isUnread && result.outcome === 'dead' ? 'unrecognized' : result.outcome;
      reporting.delivery({ stage: 'handle', outcome, name, digest, code, durationMs, waitedMs, attempt });
    },
  });

  return { toVerified, handle, makeHost };
}

/**
 * SHA-256 of its partner and of the text that the signature pins (`pinnedText`). With the partner, so that a delivery
 * never counts as a repetition of another partner's; without the key, since the service may repeat it with the next
 * keys. The length of the partner's name goes first, so that no two pairs give the same text.
 */
function deliveryDigest(partner: string, pinned: string): string {
  return hash('sha256', `${partner.length}:${partner}${pinned}`, 'hex');
}

function isStoreFailure(error: unknown): boolean {
  return isInboxError(error) && ['store_unavailable', 'store_full', 'inbox_stopped'].includes(error.code);
}

/** What subscribers of `partner-exchange:delivery` and `partner-exchange:handle` get. */
interface DeliveryTrace {
  /** The trace context of the request, which anybody can send; a subscriber may put its own here at the start. */
  traceparent?: string | undefined;
  readonly event?: OrderEventName | 'other' | undefined;
  /** The number of the attempt of a stored delivery, from 1. */
  readonly attempt?: number | undefined;
  readonly outcome?: ReceiveOutcome['kind'] | HandleResult;
  readonly status?: number;
  readonly code?: string | undefined;
}

/** An authentic event may have any name, even one that says who the buyer is. */
function publishedName(name: string): OrderEventName | 'other' {
  return orderEventNames.find((known) => known === name) ?? 'other';
}
