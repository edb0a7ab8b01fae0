import type { VerificationKey } from '../credentials/verification-keys.ts';
import { failureCode, InboxError } from '../errors/errors.ts';
import { isUnrecognizedError } from '../inbox/handling-attempt.ts';
import type { Delivery, DeliveryReference, HandleOptions, HandleResult, InboxHost } from '../inbox/inbox.ts';
import { hash } from '../internal/hash.ts';
import { quotedName } from '../internal/printable-text.ts';
import { traced } from '../internal/tracing.ts';
import { pinnedText } from '../signature/serializations.ts';
import { byteLengthOf } from '../signature/signed-body.ts';
import { readUnverifiedBody, type UnverifiedBody } from '../signature/verify-body.ts';
import { handleTrace } from './delivery-traces.ts';
import { type Handlers, type ReceivedEvent, readEvent, readingsOf } from './handlers.ts';
import type { Reporting } from './reporting.ts';
import type { WebhooksSettings } from './webhooks-options.ts';

/** A delivery whose signature is correct. */
export interface VerifiedDelivery {
  readonly event: ReceivedEvent;
  /** The text of its body. */
  readonly body: string;
  readonly reference: DeliveryReference;
}

/** Reads authentic bodies, and runs the handlers: for a request, and for a delivery that the inbox has stored. */
export function deliveryHandling(settings: WebhooksSettings, handlers: Handlers, reporting: Reporting) {
  const { scheme, wireNames, eventStatuses, strict, maxBodyBytes } = settings;

  function read(body: UnverifiedBody): ReceivedEvent {
    const event = readEvent(body, { wireNames, eventStatuses, strict });
    reporting.readings(readingsOf(event.parsed));
    return event;
  }

  function toVerified(
    body: string,
    claimed: UnverifiedBody,
    { partner, matched }: VerificationKey,
  ): VerifiedDelivery {
    const digest = deliveryDigest(partner, pinnedText(scheme, claimed));
    const event = read(claimed);
    const { parsed } = event;
    const name = parsed.kind === 'known' ? parsed.event.event_name : parsed.name;
    return { event, body, reference: { name, digest, key: matched } };
  }

  /** @throws {InboxError} `event_unrecognized` beyond `maxBodyBytes`; and whatever a handler throws */
  function handle(
    delivery: Delivery,
    eventOf: (delivery: Delivery) => ReceivedEvent,
    options: HandleOptions | undefined,
  ): Promise<HandleResult> {
    return traced(
      'handle',
      () => handleTrace(delivery, options),
      async () => {
        const { body, name, digest, key } = delivery;
        const event = eventOf(delivery);
        if (byteLengthOf(body) <= maxBodyBytes) {
          return await handlers.handle(event, { name, digest, key }, options);
        }
        reporting.tooLarge();
        throw new InboxError(
          'event_unrecognized',
          `The authentic event ${quotedName(name)} is larger than maxBodyBytes (${maxBodyBytes}).`,
          { remedy: 'Raise maxBodyBytes, and replay it.' },
        );
      },
    );
  }

  /** It was verified before it was stored; its keys may have been rotated since. */
  const readStored = ({ body }: Delivery) => read(readUnverifiedBody(body, scheme));

  /** The host of an inbox. @param review of the quarantine */
  function inboxHost(review: () => Promise<void>): InboxHost {
    return {
      get hasHandlers() {
        return handlers.hasAny;
      },
      review,
      handle: (delivery, options) => handle(delivery, readStored, options),
      report({ name, digest, key }, handled) {
        const { attempt, durationMs, waitedMs } = handled;
        const isUnread = isUnrecognizedError(handled.error);
        const outcome = isUnread && handled.outcome === 'dead' ? 'unrecognized' : handled.outcome;
        // Not `handled.error !== undefined`: a handler may throw undefined.
        const isFailure = 'error' in handled;
        if (isFailure && !isUnread) reporting.error(handled.error, { name, digest, key });
        const code = isFailure ? failureCode(handled.error) : undefined;
        reporting.delivery({ stage: 'handle', outcome, name, digest, code, durationMs, waitedMs, attempt });
      },
    };
  }

  return { toVerified, handle, inboxHost };
}

/**
 * SHA-256 of its partner and of the text that the signature pins (`pinnedText`). With the partner, so that a delivery
 * never counts as a repetition of another partner's; without the key, since the service may repeat it with the next
 * keys. The length of the partner's name goes first, so that no two pairs give the same text.
 */
function deliveryDigest(partner: string, pinned: string): string {
  return hash('sha256', `${partner.length}:${partner}${pinned}`, 'hex');
}
