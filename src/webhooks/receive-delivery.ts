import { ConfigurationError, isInboxError, isKeyError, isSignatureError } from '../errors/errors.ts';
import { noReadings } from '../events/event-readings.ts';
import { isUnrecognizedError } from '../inbox/handling-attempt.ts';
import { type HandleOptions, type InboxResult, inboxResults } from '../inbox/inbox.ts';
import { readTraceparent, traced } from '../internal/tracing.ts';
import { byteLengthOf, decodeBody } from '../signature/signed-body.ts';
import { readUnverifiedBody } from '../signature/verify-body.ts';
import { deliveryTrace } from './delivery-traces.ts';
import { type DeliveryRequest, headerOf } from './found-keys.ts';
import { deliveryHandling, type VerifiedDelivery } from './handle-delivery.ts';
import { type Handlers, readingsOf } from './handlers.ts';
import { quarantinedDeliveries } from './quarantined-deliveries.ts';
import { codeOfOutcome, type ReceiveOutcome, statusOfRefusal } from './receive-outcome.ts';
import type { Reporting } from './reporting.ts';
import type { WebhooksSettings } from './webhooks-options.ts';

/** Milliseconds until the sender should try again. */
const retryAfter = Object.freeze({ busy: 5_000, unavailable: 10_000 });

/** Makes `receive` for requests, and the host that handles stored deliveries. */
export function deliveryReceiver(settings: WebhooksSettings, handlers: Handlers, reporting: Reporting) {
  const { scheme, findSigner, ring, inbox, maxBodyBytes, mostBodyBytes } = settings;
  const handling = deliveryHandling(settings, handlers, reporting);

  function receive(body: string | Uint8Array, request: DeliveryRequest = {}): Promise<ReceiveOutcome> {
    const received = traceparentOf(request);
    // A subscriber may have begun a trace of its own at the start, which the delivery then carries on.
    return traced(
      'delivery',
      () => deliveryTrace(received),
      (trace) =>
        receiveTraced(body, request, trace === undefined ? received : readTraceparent(trace.traceparent)),
    );
  }

  async function receiveTraced(
    body: string | Uint8Array,
    request: DeliveryRequest,
    traceparent: string | undefined,
  ): Promise<ReceiveOutcome> {
    const startedAt = performance.now();
    // In two steps: a handler may throw a SignatureError as well, and that is a failed handler, not a forgery.
    const verified = await verify(body, request).catch((error) => refuse(body, request, error));
    const outcome = 'kind' in verified ? verified : await deliver(verified, traceparent);
    quarantined.reviewIfChanged();
    const { kind, status, name, digest } = outcome;
    const durationMs = performance.now() - startedAt;
    const readings = 'kind' in verified ? noReadings : readingsOf(verified.event.parsed);
    reporting.delivery({
      stage: 'receive',
      outcome: kind,
      status,
      name,
      digest,
      code: codeOfOutcome(outcome),
      ...(readings.length > 0 && { readings }),
      durationMs,
    });
    return outcome;
  }

  async function verify(
    body: string | Uint8Array,
    request: DeliveryRequest,
  ): Promise<VerifiedDelivery | ReceiveOutcome> {
    if (byteLengthOf(body) > mostBodyBytes) {
      reporting.refusal('body_too_large');
      return { kind: 'refused', status: 413, code: 'body_too_large' };
    }
    const source = decodeBody(body);
    const claimed = readUnverifiedBody(source, scheme);
    return handling.toVerified(source, claimed, await findSigner(claimed, request));
  }

  async function refuse(
    body: string | Uint8Array,
    request: DeliveryRequest,
    error: unknown,
  ): Promise<ReceiveOutcome> {
    if (isKeyError(error)) {
      const { code } = error;
      reporting.unverified(body, error);
      // The body may be authentic, so the sender should send it again. It may never do so.
      const kept = byteLengthOf(body) <= maxBodyBytes && (await quarantined.keep(body, code));
      const retryAfterMs = error.retryAfterMs ?? retryAfter.unavailable;
      return { kind: 'unverified', status: 503, retryAfterMs, code, error, quarantined: kept };
    }
    if (!isSignatureError(error)) throw error;
    // Headers alone refuse nothing: many senders name an encoding that is none, and many parsers keep the header of one
    // that they have undone.
    const isUnread = error.code === 'body_not_utf8' || error.code === 'body_not_json';
    if (isUnread && namesEncoding(request)) {
      reporting.refusal('unsupported_media_type');
      return { kind: 'refused', status: 415, code: 'unsupported_media_type' };
    }
    reporting.refusedBody(body, error);
    return { kind: 'refused', status: statusOfRefusal(error.code), code: error.code, error };
  }

  async function deliver(
    { event, body, reference }: VerifiedDelivery,
    traceparent: string | undefined,
  ): Promise<ReceiveOutcome> {
    try {
      const delivery = { ...reference, body, ...(traceparent !== undefined && { traceparent }) };
      const handle = (options?: HandleOptions) => handling.handle(delivery, () => event, options);
      const kind = checkResult(await inbox.receive(delivery, handle));
      if (kind !== 'busy') return { kind, status: 200, ...reference };
      return { kind, status: 503, retryAfterMs: retryAfter.busy, ...reference };
    } catch (error) {
      // `Handlers` warns of this one, and counts how often.
      if (isUnrecognizedError(error)) return { kind: 'unrecognized', status: 500, error, ...reference };
      reporting.error(error, reference);
      if (!isStoreFailure(error)) return { kind: 'failed', status: 500, error, ...reference };
      const retryAfterMs = retryAfter.unavailable;
      return { kind: 'unavailable', status: 503, retryAfterMs, error, ...reference };
    }
  }

  const quarantined = quarantinedDeliveries({
    quarantine: inbox.quarantine,
    ring,
    scheme,
    reporting,
    accept: (body, claimed, key) => deliver(handling.toVerified(body, claimed, key), undefined),
  });

  return { receive, inboxHost: handling.inboxHost(quarantined.review) };
}

function traceparentOf({ headers }: DeliveryRequest): string | undefined {
  if (headers === undefined) return undefined;
  if (typeof headers.get === 'function') return readTraceparent(headers.get('traceparent'));
  const name = Object.keys(headers).find((name) => name.toLowerCase() === 'traceparent');
  return name === undefined ? undefined : readTraceparent(Object(headers)[name]);
}

/** Whether the headers name another encoding than UTF-8 as it is. */
function namesEncoding(request: DeliveryRequest): boolean {
  const codings = headerOf(request, 'content-encoding') ?? '';
  const [, charset = 'utf-8'] =
    /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headerOf(request, 'content-type') ?? '') ?? [];
  const isPlain = (coding: string) => ['', 'identity'].includes(coding.trim().toLowerCase());
  return !/^utf-?8$/i.test(charset) || !codings.split(',').every(isPlain);
}

function isStoreFailure(error: unknown): boolean {
  return isInboxError(error) && ['store_unavailable', 'store_full', 'inbox_stopped'].includes(error.code);
}

/** A user's own inbox may return anything. Only results that say it was kept are acknowledged. */
function checkResult(result: InboxResult): InboxResult {
  if (inboxResults.includes(result)) return result;
  throw new ConfigurationError(
    'invalid_option',
    `inbox.receive must resolve with one of ${inboxResults.join(', ')}.`,
  );
}
