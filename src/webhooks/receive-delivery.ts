import { isKeyRing } from '../credentials/key-ring.ts';
import type { VerificationKeys } from '../credentials/verification-keys.ts';
import { ConfigurationError } from '../errors/configuration-error.ts';
import { InboxError, isInboxError } from '../errors/inbox-error.ts';
import { isKeyError, type KeyError } from '../errors/key-error.ts';
import { isSignatureError } from '../errors/signature-error.ts';
import {
  type DeliveryReference,
  type HandleDelivery,
  type InboxHost,
  type InboxResult,
  inboxResults,
} from '../inbox/inbox.ts';
import { decodeBody } from '../signature/decode-body.ts';
import { parseVerifiedBody } from '../signature/parse-verified-body.ts';
import { pinnedText } from '../signature/pinned-text.ts';
import type { VerifiedBody } from '../signature/verify-body.ts';
import { bodyVerifier } from './body-verifier.ts';
import { deliveryDigest } from './delivery-digest.ts';
import type { Handlers } from './handlers.ts';
import { type Outcome, statusOfRefusal } from './outcome.ts';
import { readEvent } from './received-event.ts';
import type { Reporting } from './reporting.ts';
import { ringVerifier } from './ring-verifier.ts';
import type { ResolvedWebhooksOptions } from './webhooks-options.ts';

/** What every raw body goes through, wherever it came from. */
export interface DeliveryReceiver {
  /** Verifies a body, narrows it, and passes it to the inbox. */
  receive(body: string | Uint8Array): Promise<Outcome>;
  /** Handles what an inbox has stored. */
  readonly inboxHost: InboxHost;
}

/** Milliseconds until the sender should try again. */
const retryAfter = Object.freeze({ busy: 5_000, unavailable: 10_000 });

export function deliveryReceiver(
  { scheme, keys, keySearch, wireNames, inbox, maxBodyBytes }: ResolvedWebhooksOptions,
  handlers: Handlers,
  reporting: Reporting,
): DeliveryReceiver {
  // Static keys are used as they are, without a promise. Those of a ring may have to be read first.
  const verifyBody = bodyVerifier({ scheme, wireNames, keySearch });
  const ring = isKeyRing(keys) ? ringVerifier({ ring: keys, scheme, verifyBody }) : undefined;
  const fixed = isKeyRing(keys) ? noKeys : keys;

  async function decide(body: string | Uint8Array): Promise<Outcome> {
    if (exceeds(body, maxBodyBytes)) {
      reporting.refusal('body_too_large');
      return { kind: 'refused', status: 413, code: 'body_too_large' };
    }
    let source: string;
    let verified: VerifiedBody;
    let used = fixed;
    let pinned: string;
    try {
      source = decodeBody(body);
      if (ring === undefined) {
        const found = verifyBody(source, fixed);
        verified = found instanceof Promise ? await found : found;
      } else ({ verified, keys: used } = await ring(source));
      pinned = pinnedText(scheme, verified);
    } catch (error) {
      if (isKeyError(error)) {
        reporting.unverified(error);
        return unverified(error);
      }
      if (!isSignatureError(error)) throw error;
      reporting.refusedBody(body, error);
      return { kind: 'refused', status: statusOfRefusal(error.code), code: error.code, error };
    }
    const { keyIndex } = verified;
    const event = readEvent(verified, wireNames);
    const { parsed } = event;
    const reference: DeliveryReference = {
      name: parsed.kind === 'known' ? parsed.event.event_name : parsed.name,
      digest: deliveryDigest(used.partners[keyIndex] ?? '', pinned),
      // The lists run in parallel.
      key: used.labels[keyIndex] ?? { index: keyIndex },
    };
    // A receiver without handlers may store for another process.
    const onlyStores = inbox.role === 'receiver' && !handlers.any;
    const handle = onlyStores ? unhandled : handlers.find(event, reference);
    if (handle === undefined) return { kind: 'ignored', status: 200, ...reference };
    try {
      const kind = checkResult(await inbox.receive({ ...reference, body: source }, handle));
      if (kind !== 'busy') return { kind, status: 200, ...reference };
      return { kind, status: 503, retryAfterMs: retryAfter.busy, ...reference };
    } catch (error) {
      reporting.error(error, reference);
      if (!isStoreFailure(error)) return { kind: 'failed', status: 500, error, ...reference };
      return {
        kind: 'unavailable',
        status: 503,
        retryAfterMs: retryAfter.unavailable,
        error,
        ...reference,
      };
    }
  }

  async function decideAndReport(body: string | Uint8Array): Promise<Outcome> {
    const startedAt = performance.now();
    const outcome = await decide(body);
    const { name, digest, code } = { name: undefined, digest: undefined, code: undefined, ...outcome };
    const durationMs = performance.now() - startedAt;
    const { kind, status } = outcome;
    reporting.delivery?.({ stage: 'receive', outcome: kind, status, name, digest, code, durationMs });
    return outcome;
  }

  return {
    receive: reporting.delivery === undefined ? decide : decideAndReport,
    inboxHost: {
      async handle({ body, name, digest, key }, options) {
        const event = readEvent(parseVerifiedBody(body, scheme), wireNames);
        const handle = handlers.find(event, { name, digest, key }) ?? unhandled;
        await handle(options);
      },
      report({ name, digest, key }, handled) {
        const { outcome, attempt, durationMs, waitedMs } = handled;
        // Not `handled.error !== undefined`: a handler may throw undefined.
        if ('error' in handled) reporting.error(handled.error, { name, digest, key });
        reporting.delivery?.({ stage: 'handle', outcome, name, digest, durationMs, waitedMs, attempt });
      },
    },
  };
}

const noKeys: VerificationKeys = { keys: [], labels: [], partners: [] };

/** The body may be authentic, so the sender should send it again. */
function unverified(error: KeyError): Outcome {
  const retryAfterMs = Math.max(error.retryAfterMs ?? 0, retryAfter.unavailable);
  return { kind: 'unverified', status: 503, retryAfterMs, code: error.code, error };
}

/** Handles a stored delivery without a handler: it must not count as handled. */
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

/** Rarely has to count bytes: UTF-8 takes one to three of them for each code unit. */
function exceeds(body: string | Uint8Array, maxBytes: number): boolean {
  // A parsed object or null has no length; verification refuses it and says why.
  if (typeof body !== 'string') return body?.byteLength > maxBytes;
  return body.length > maxBytes || (body.length * 3 > maxBytes && Buffer.byteLength(body) > maxBytes);
}

/** A user's own inbox may return anything. Only results that say it was kept are acknowledged. */
function checkResult(result: InboxResult): InboxResult {
  if (inboxResults.includes(result)) return result;
  throw new ConfigurationError(
    'invalid_option',
    `inbox.receive must resolve with one of ${inboxResults.join(', ')}.`,
  );
}
