import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import { verificationKeysOf } from '../credentials/verification-keys.ts';
import type { Deployment } from '../deployment/define-deployment.ts';
import { readSigningPart } from '../deployment/signing-part.ts';
import type { OrderEvent } from '../events/order-event.ts';
import { unrecognizedEvent } from '../events/parse-order-event.ts';
import { defineOptions, invalidOption, type OptionTable } from '../internal/options.ts';
import { verifyBody } from '../signature/verify-body.ts';
import { readEvent } from './received-event.ts';

/** Options of {@link unwrap}. */
export interface UnwrapOptions {
  /**
   * The credentials of one partner: one set, or the generations of a rotation. Every key is tried. Several partners are
   * refused, since the event does not say who signed it: `createWebhooks` tells its handlers.
   */
  credentials: PartnerCredentials | readonly PartnerCredentials[] | undefined;
  /**
   * Its signature scheme, wire names and further statuses. @default the default scheme, the published names and statuses
   */
  deployment?:
    | (Pick<Deployment, 'signature' | 'wireNames'> & Partial<Pick<Deployment, 'eventStatuses'>>)
    | undefined;
}

const readOptions = defineOptions('unwrap', {
  // Sound: they are checked while keys are made of them.
  credentials: (credentials) => credentials as PartnerCredentials | readonly PartnerCredentials[],
  deployment: readSigningPart,
} satisfies OptionTable<UnwrapOptions>);

/**
 * Verifies one body as received and returns its event, for a receiver that answers, remembers and repeats by itself, as
 * `createWebhooks` does. Limit the size of the body where you read it: 64 KiB is plenty for an event.
 *
 * @param rawBody the text or bytes as received, before anything parses them
 * @throws {SignatureError} Answer 401: the body is not signed with these credentials. 400 for `body_not_json`.
 * @throws {InboxError} `event_unrecognized`: the body is authentic, and no event that this version reads. Answer 500, so
 *   that the service sends it again.
 * @throws {ConfigurationError} `raw_body_required` for a parsed object; `invalid_option`, `invalid_credentials`
 * @example
 * ```ts
 * const event = unwrap(await request.text(), { credentials });
 * if (event.event_name === 'event.buy.credited.crypto') await credit(event.partner_order_id);
 * ```
 */
export function unwrap(rawBody: string | Uint8Array, options: UnwrapOptions): OrderEvent {
  const { credentials, deployment } = readOptions(options);
  const { signature: scheme, wireNames, eventStatuses } = deployment;
  const keys = verificationKeysOf(credentials, scheme);
  if (new Set(keys.map(({ partner }) => partner)).size > 1) {
    throw invalidOption('unwrap takes the credentials of one partner.', 'Use createWebhooks for several.');
  }
  const body = verifyBody(rawBody, { key: keys.map(({ text }) => text), scheme });
  const { parsed } = readEvent(body, { wireNames, eventStatuses });
  if (parsed.kind === 'known') return parsed.event;
  throw unrecognizedEvent(parsed);
}
