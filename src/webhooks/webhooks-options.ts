import { isKeyRing, type KeyRing } from '../credentials/key-ring.ts';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import {
  type VerificationKeys,
  verificationKeysOf,
  verificationKeysOfTexts,
} from '../credentials/verification-keys.ts';
import type { Deployment } from '../deployment/define-deployment.ts';
import { checkWireNames, type WireNames } from '../deployment/wire-names.ts';
import type { DeliveryReference, Inbox } from '../inbox/inbox.ts';
import { memoryDeduplication } from '../inbox/memory/memory-deduplication.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { checkFunction, checkInteger, checkTimerMs, invalidOption } from '../options/check-values.ts';
import { quotedName } from '../redaction/quoted-name.ts';
import { checkScheme, defaultScheme, type SignatureScheme } from '../signature/signature-scheme.ts';
import type { DeliveryReport } from './delivery-report.ts';
import {
  type KeySearchOptions,
  type ResolvedKeySearchOptions,
  resolveKeySearchOptions,
} from './key-search/key-search-options.ts';
import type { RefusedBody } from './refused-body.ts';

export interface WebhooksOptions {
  /**
   * One set of credentials, or several: generations during a rotation, or partners. For several partners give
   * `partnerId` (or `partnerCode`) in every set, so that a delivery of one never counts as a repetition of another's.
   * Or a key ring, which reads them again when they are old and when a signature matches none of them.
   */
  credentials?: PartnerCredentials | readonly PartnerCredentials[] | KeyRing | undefined;
  /**
   * Verification keys as they are, instead of `credentials`, for a deployment that combines secrets differently. All of
   * one partner.
   */
  keys?: readonly string[] | undefined;
  /**
   * How much may be spent on searching for the key of a delivery that does not say whose it is, or says it wrong.
   * @default at most 50000 keys a second
   */
  keySearch?: KeySearchOptions | undefined;
  /** Its signature scheme and wire names. @default the default scheme, the published names */
  deployment?: Pick<Deployment, 'signature' | 'wireNames'> | undefined;
  /** @default digests in memory; a delivery is handled before it is acknowledged */
  inbox?: Inbox | undefined;
  /** Most bytes of a body, enforced while it is read; then 413. @default 262144 */
  maxBodyBytes?: number | undefined;
  /**
   * Milliseconds for a body to arrive, from the moment the webhooks are called; then 408. A framework that reads the
   * body first has its own limit. @default 10000
   */
  bodyTimeoutMs?: number | undefined;
  /**
   * How many handled deliveries are remembered without an `inbox`, for 30 days. Refused together with one.
   * @default 10000
   */
  maxRemembered?: number | undefined;
  /**
   * Milliseconds before a handler is aborted and answered with 500. Refused together with an `inbox`, which has its own
   * `timeLimitMs`. @default 60000
   */
  timeLimitMs?: number | undefined;
  /**
   * Called when a handler (or the inbox) fails, while a delivery is received and at each attempt to handle a stored
   * one. Nothing waits for it. @default console.error
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
   * The body may hold personal data of a buyer, and anybody who can reach the address can send as many as they like:
   * keep only a few, keep them safe, and remove the option once the scheme is found.
   * @default none
   */
  onRefused?: ((refused: RefusedBody) => unknown) | undefined;
}

/** The options, checked and with their defaults. */
export interface ResolvedWebhooksOptions {
  readonly scheme: SignatureScheme;
  /** Keys that never change, or those of a key ring. */
  readonly keys: VerificationKeys | KeyRing;
  readonly keySearch: ResolvedKeySearchOptions;
  readonly wireNames: WireNames;
  readonly inbox: Inbox;
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
  readonly onError: (error: unknown, delivery: DeliveryReference) => unknown;
  readonly onDelivery: ((report: DeliveryReport) => unknown) | undefined;
  readonly onRefused: ((refused: RefusedBody) => unknown) | undefined;
}

const optionNames: OptionNames<WebhooksOptions> = {
  credentials: true,
  keys: true,
  keySearch: true,
  deployment: true,
  inbox: true,
  maxBodyBytes: true,
  bodyTimeoutMs: true,
  maxRemembered: true,
  timeLimitMs: true,
  onError: true,
  onDelivery: true,
  onRefused: true,
};

const defaults = Object.freeze({
  maxBodyBytes: 262_144,
  bodyTimeoutMs: 10_000,
  maxRemembered: 10_000,
  rememberMs: 30 * 24 * 60 * 60 * 1000,
  timeLimitMs: 60_000,
});

/** @throws {ConfigurationError} */
export function resolveWebhooksOptions(options: WebhooksOptions): ResolvedWebhooksOptions {
  checkNames('createWebhooks', options, optionNames);
  const { scheme, wireNames } = resolveDeployment(options.deployment);
  const { onDelivery, onRefused } = options;
  return {
    scheme,
    wireNames,
    keys: resolveKeys(options, scheme),
    keySearch: resolveKeySearchOptions(options.keySearch),
    inbox: resolveInbox(options),
    maxBodyBytes: checkInteger('maxBodyBytes', options.maxBodyBytes ?? defaults.maxBodyBytes),
    bodyTimeoutMs: checkInteger('bodyTimeoutMs', options.bodyTimeoutMs ?? defaults.bodyTimeoutMs),
    onError: checkFunction('onError', options.onError ?? logFailure),
    onDelivery: onDelivery && checkFunction('onDelivery', onDelivery),
    onRefused: onRefused && checkFunction('onRefused', onRefused),
  };
}

function resolveDeployment(
  deployment: WebhooksOptions['deployment'] = { signature: defaultScheme, wireNames: {} },
): Pick<ResolvedWebhooksOptions, 'scheme' | 'wireNames'> {
  // defineDeployment has checked the names of a whole deployment.
  if (!('paths' in Object(deployment))) {
    checkNames('deployment', deployment, { signature: true, wireNames: true });
  }
  return {
    scheme: checkScheme(deployment.signature ?? defaultScheme),
    wireNames: checkWireNames(deployment.wireNames),
  };
}

function resolveKeys(
  { credentials, keys }: WebhooksOptions,
  scheme: SignatureScheme,
): VerificationKeys | KeyRing {
  if ((credentials === undefined) === (keys === undefined)) {
    throw invalidOption('createWebhooks needs either credentials or keys.');
  }
  if (keys !== undefined) return verificationKeysOfTexts(keys);
  return isKeyRing(credentials) ? credentials : verificationKeysOf(credentials ?? [], scheme);
}

function resolveInbox({ inbox, maxRemembered, timeLimitMs }: WebhooksOptions): Inbox {
  if (inbox === undefined) {
    return memoryDeduplication({
      maxRemembered: checkInteger('maxRemembered', maxRemembered ?? defaults.maxRemembered),
      rememberMs: defaults.rememberMs,
      timeLimitMs: checkTimerMs('timeLimitMs', timeLimitMs ?? defaults.timeLimitMs),
      now: Date.now,
    });
  }
  checkFunction('inbox.receive', inbox?.receive);
  const misplaced = Object.entries({ maxRemembered, timeLimitMs }).find(([, value]) => value !== undefined);
  if (misplaced === undefined) return inbox;
  throw invalidOption(`${misplaced[0]} has no effect beside an inbox: it is for the memory without one.`);
}

function logFailure(error: unknown, { name, digest }: DeliveryReference): void {
  console.error(
    `A webhook delivery was not handled (${quotedName(name)}, digest ${digest.slice(0, 12)}):`,
    error,
  );
}
