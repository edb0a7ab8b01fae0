import { type KeyRing, keyRingOf, keyRingOfKeys } from '../credentials/key-ring.ts';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import type { Deployment } from '../deployment/define-deployment.ts';
import type { WireNames } from '../deployment/wire-names.ts';
import { ConfigurationError } from '../errors/configuration-error.ts';
import type { DeliveryReference, Inbox } from '../inbox/inbox.ts';
import { memoryDeduplication } from '../inbox/memory/memory-deduplication.ts';
import { longestTimerMs } from '../runtime/longest-timer.ts';
import { checkScheme, defaultScheme, type SignatureScheme } from '../signature/signature-scheme.ts';
import type { DeliveryReport } from './delivery-report.ts';

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
  /** How many handled deliveries the memory keeps in mind, for 30 days. Not used with an `inbox`. @default 10000 */
  maxRemembered?: number | undefined;
  /**
   * Milliseconds until a handler is cut off and answered with 500. Not used with an `inbox`, which has a limit of its
   * own. @default 60000
   */
  timeLimitMs?: number | undefined;
  /**
   * Learns why a handler (or the inbox) failed, while a delivery is received and at each attempt to handle a stored
   * one; nothing waits for it. @default console.error
   */
  onError?: ((error: unknown, delivery: DeliveryReference) => unknown) | undefined;
  /**
   * Learns the outcome of every request and of every stored delivery, with timings: for metrics. Nothing waits for it,
   * and what it throws is warned of and dropped.
   */
  onDelivery?: ((report: DeliveryReport) => unknown) | undefined;
}

/** Every option, checked and with its default. */
export interface CheckedOptions {
  readonly scheme: SignatureScheme;
  readonly ring: KeyRing;
  readonly wireNames: WireNames;
  readonly inbox: Inbox;
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
  readonly onError: (error: unknown, delivery: DeliveryReference) => unknown;
  readonly onDelivery: ((report: DeliveryReport) => unknown) | undefined;
}

const defaults = Object.freeze({
  maxBodyBytes: 262_144,
  bodyTimeoutMs: 10_000,
  maxRemembered: 10_000,
  rememberMs: 30 * 24 * 60 * 60 * 1000,
  timeLimitMs: 60_000,
});

/** @throws {ConfigurationError} */
export function checkOptions(options: WebhooksOptions): CheckedOptions {
  const scheme = checkScheme(options?.deployment?.signature ?? defaultScheme);
  const ring = resolveKeys(options, scheme);
  const maxRemembered = positive('maxRemembered', options.maxRemembered ?? defaults.maxRemembered);
  const timeLimitMs = positive('timeLimitMs', options.timeLimitMs ?? defaults.timeLimitMs);
  if (timeLimitMs > longestTimerMs) throw invalid(`timeLimitMs must be at most ${longestTimerMs}.`);
  const { rememberMs } = defaults;
  const inbox =
    options.inbox ?? memoryDeduplication({ maxRemembered, rememberMs, timeLimitMs, now: Date.now });
  if (typeof inbox.receive !== 'function') throw invalid('inbox needs a receive function.');
  const onError = options.onError ?? logFailure;
  const { onDelivery } = options;
  if (typeof onError !== 'function') throw invalid('onError must be a function.');
  if (onDelivery !== undefined && typeof onDelivery !== 'function') {
    throw invalid('onDelivery must be a function.');
  }
  return {
    scheme,
    ring,
    wireNames: options.deployment?.wireNames ?? {},
    inbox,
    maxBodyBytes: positive('maxBodyBytes', options.maxBodyBytes ?? defaults.maxBodyBytes),
    bodyTimeoutMs: positive('bodyTimeoutMs', options.bodyTimeoutMs ?? defaults.bodyTimeoutMs),
    onError,
    onDelivery,
  };
}

function resolveKeys(options: WebhooksOptions, scheme: SignatureScheme): KeyRing {
  if ((options?.credentials === undefined) === (options?.keys === undefined)) {
    throw invalid('createWebhooks needs either credentials or keys.');
  }
  return options.keys === undefined
    ? keyRingOf(options.credentials ?? [], scheme)
    : keyRingOfKeys(options.keys);
}

function positive(name: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value;
  throw invalid(`${name} must be a whole number of at least 1.`);
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_option', message);
}

function logFailure(error: unknown, { name, digest }: DeliveryReference): void {
  console.error(
    `A webhook delivery was not handled (${JSON.stringify(name)}, digest ${digest.slice(0, 12)}):`,
    error,
  );
}
