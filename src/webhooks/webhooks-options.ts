import type { KeyRing } from '../credentials/key-ring.ts';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import type { Deployment } from '../deployment/define-deployment.ts';
import { readSigningPart } from '../deployment/signing-part.ts';
import type { DeliveryReference, Inbox } from '../inbox/inbox.ts';
import { memoryDeduplication } from '../inbox/memory-deduplication.ts';
import { describeError, redactError } from '../internal/driver-error.ts';
import {
  callback,
  checkFunction,
  defineOptions,
  integer,
  type OptionTable,
  optional,
} from '../internal/options.ts';
import { quotedName } from '../internal/printable-text.ts';
import { type FindCredentials, signerFinder } from './delivery-keys.ts';
import type { DeliveryReport, RefusedBody } from './receive-outcome.ts';

/** Options of {@link createWebhooks}. */
export interface WebhooksOptions {
  /**
   * One set of credentials, or several: generations during a rotation, or partners. For several partners give
   * `partnerId` (or `partnerCode`) in every set, so that a delivery of one never counts as a repetition of another's,
   * and compare `key` of the context with the owner of the order: a partner can sign an event about another's order.
   * Or a key ring, which reads them again when they are old and when a signature matches none of them.
   *
   * Every key is tried on every delivery. For many partners give a function, which returns the sets of the partner that
   * the request names. Nothing of the request is verified yet. If the function returns no sets, the answer is 401; if it
   * throws, or takes longer than 5 seconds, 503.
   */
  credentials?: PartnerCredentials | readonly PartnerCredentials[] | KeyRing | FindCredentials | undefined;
  /**
   * Its signature scheme, wire names and further statuses. @default the default scheme, the published names and statuses
   */
  deployment?:
    | (Pick<Deployment, 'signature' | 'wireNames'> & Partial<Pick<Deployment, 'eventStatuses'>>)
    | undefined;
  /**
   * @default the digests of the last 10,000 deliveries in memory, for 30 days; a delivery is handled before it is
   * acknowledged, within 60 seconds (`memoryInbox` has options for these)
   */
  inbox?: Inbox | undefined;
  /**
   * Most bytes of a body, enforced while it is read; then 413. @default 65536
   */
  maxBodyBytes?: number | undefined;
  /**
   * Milliseconds for a body to arrive, from the moment the webhooks are called; then 408. A framework that reads the
   * body first has its own limit. @default 10000
   */
  bodyTimeoutMs?: number | undefined;
  /**
   * Called when a handler (or the inbox) fails, while a delivery is received and at each attempt to handle a stored
   * one. Nothing waits for it. Not for a stopped inbox, which is one process warning. @default console.error
   */
  onError?: ((error: unknown, delivery: DeliveryReference) => unknown) | undefined;
  /**
   * Called with the outcome of every request and of every stored delivery, with timings: for metrics. Nothing waits for
   * it; what it throws becomes a process warning.
   */
  onDelivery?: ((report: DeliveryReport) => unknown) | undefined;
  /**
   * Called with every body that could not be verified, as received: for capturing one while you look for the signature
   * scheme. Nothing waits for it, it cannot change the answer, and the first thing it throws becomes a process warning.
   *
   * The body may hold personal data of a buyer, and anybody can send as many as they like: keep only a few, keep them
   * safe, and remove the option once the scheme is found. @default none
   */
  onRefused?: ((refused: RefusedBody) => unknown) | undefined;
}

const readOptions = defineOptions('createWebhooks', {
  // Sound: they are checked while keys are made of them.
  credentials: (credentials) => credentials as NonNullable<WebhooksOptions['credentials']>,
  deployment: readSigningPart,
  inbox: optional((inbox: unknown) => {
    // Sound: only `receive` is required.
    checkFunction('inbox.receive', (inbox as Inbox | null)?.receive);
    return inbox as Inbox;
  }),
  maxBodyBytes: integer({ default: 65_536 }),
  bodyTimeoutMs: integer({ default: 10_000 }),
  onError: callback({ default: logFailure }),
  onDelivery: optional(callback()),
  onRefused: optional(callback()),
} satisfies OptionTable<WebhooksOptions>);

export type WebhooksSettings = ReturnType<typeof readWebhooksOptions>;

/** @throws {ConfigurationError} */
export function readWebhooksOptions(options: WebhooksOptions) {
  const { credentials, deployment, inbox = withoutInbox(), ...others } = readOptions(options);
  const { signature: scheme, wireNames, eventStatuses } = deployment;
  return {
    ...others,
    scheme,
    wireNames,
    eventStatuses,
    ...signerFinder(credentials, scheme, wireNames),
    inbox,
  };
}

function withoutInbox(): Inbox {
  const rememberMs = 30 * 24 * 60 * 60 * 1000;
  return memoryDeduplication({ maxRemembered: 10_000, rememberMs, timeLimitMs: 60_000, now: Date.now });
}

function logFailure(error: unknown, { name, digest }: DeliveryReference): void {
  console.error(
    `A webhook delivery was not handled (${quotedName(name)}, digest ${digest.slice(0, 12)}):`,
    // A driver's message can hold the address of its server with the password.
    redactError(error, []) ?? describeError(error),
  );
}
