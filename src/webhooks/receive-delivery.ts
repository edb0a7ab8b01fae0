import { fromWireNames } from '../deployment/wire-names.ts';
import { ConfigurationError } from '../errors/configuration-error.ts';
import { InboxError, isInboxError } from '../errors/inbox-error.ts';
import { isSignatureError } from '../errors/signature-error.ts';
import { parseOrderEvent } from '../events/parse-order-event.ts';
import {
  type DeliveryReference,
  type HandleDelivery,
  type InboxHost,
  type InboxResult,
  inboxResults,
} from '../inbox/inbox.ts';
import { decodeBody } from '../signature/decode-body.ts';
import { hash } from '../signature/hash.ts';
import { parseVerifiedBody } from '../signature/parse-verified-body.ts';
import { serializationRules } from '../signature/serializations.ts';
import { type VerifiedBody, verifyBody } from '../signature/verify-body.ts';
import type { Handlers } from './handlers.ts';
import { type Outcome, statusOfRefusal } from './outcome.ts';
import type { Reporting } from './reporting.ts';
import type { CheckedOptions } from './webhooks-options.ts';

/** What a raw body goes through, whatever brought it. */
export interface DeliveryReceiver {
  /** Verifies, narrows, hands to the inbox. */
  receive(body: string | Uint8Array): Promise<Outcome>;
  /** Handles what an inbox has stored. */
  readonly host: InboxHost;
}

/** Milliseconds until the sender is told to come again. */
const retryAfter = Object.freeze({ busy: 5_000, unavailable: 10_000 });

export function makeReceiver(
  { scheme, ring, wireNames, inbox, maxBodyBytes }: CheckedOptions,
  handlers: Handlers,
  reporting: Reporting,
): DeliveryReceiver {
  // Under these, bodies that mean different things can be signed alike.
  const joined = serializationRules(scheme.serialization).pins !== 'json';
  const verifying = { key: ring.keys, scheme };

  async function decide(body: string | Uint8Array): Promise<Outcome> {
    if (exceeds(body, maxBodyBytes)) return { kind: 'refused', status: 413, code: 'body_too_large' };
    let source: string;
    let verified: VerifiedBody;
    try {
      source = decodeBody(body);
      verified = verifyBody(source, verifying);
    } catch (error) {
      if (!isSignatureError(error)) throw error;
      return { kind: 'refused', status: statusOfRefusal(error.code), code: error.code, error };
    }
    const { value, text, keyIndex } = verified;
    const parsed = parseOrderEvent(fromWireNames(value, wireNames));
    const name = parsed.kind === 'known' ? parsed.event.event_name : parsed.name;
    const digest = hash('sha256', joined ? source : text, 'hex');
    // Every key has a label at the same place.
    const reference: DeliveryReference = { name, digest, key: ring.labels[keyIndex] ?? { index: keyIndex } };
    // A receiver without any handler may be one that stores for another process.
    const elsewhere = inbox.role === 'receiver' && !handlers.any;
    const work = elsewhere ? unhandled : handlers.find(parsed, reference, text);
    if (work === undefined) return { kind: 'ignored', status: 200, ...reference };
    try {
      const kind = checkResult(await inbox.receive({ ...reference, body: source }, work));
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
    const begun = performance.now();
    const outcome = await decide(body);
    const { name, digest, code } = { name: undefined, digest: undefined, code: undefined, ...outcome };
    const durationMs = performance.now() - begun;
    const { kind, status } = outcome;
    reporting.delivery?.({ stage: 'receive', outcome: kind, status, name, digest, code, durationMs });
    return outcome;
  }

  return {
    receive: reporting.delivery === undefined ? decide : decideAndReport,
    host: {
      async handle({ body, name, digest, key }, options) {
        const { value, text } = parseVerifiedBody(body, scheme);
        const parsed = parseOrderEvent(fromWireNames(value, wireNames));
        const work = handlers.find(parsed, { name, digest, key }, text) ?? unhandled;
        await work(options);
      },
      report({ name, digest, key }, handled) {
        const { outcome, attempt, durationMs, waitedMs } = handled;
        // A handler may throw undefined, too.
        if ('error' in handled) reporting.error(handled.error, { name, digest, key });
        reporting.delivery?.({ stage: 'handle', outcome, name, digest, durationMs, waitedMs, attempt });
      },
    },
  };
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

/** Cheap for most: UTF-8 takes one to three bytes for each unit of text. */
function exceeds(body: string | Uint8Array, maxBytes: number): boolean {
  // A parsed object or null has no length; it is refused for what it is when it is verified.
  if (typeof body !== 'string') return body?.byteLength > maxBytes;
  return body.length > maxBytes || (body.length * 3 > maxBytes && Buffer.byteLength(body) > maxBytes);
}

/** An inbox of the user's may answer anything: only what it is known to have kept is acknowledged. */
function checkResult(result: InboxResult): InboxResult {
  if (inboxResults.includes(result)) return result;
  throw new ConfigurationError(
    'invalid_option',
    `inbox.receive must resolve with one of ${inboxResults.join(', ')}.`,
  );
}
