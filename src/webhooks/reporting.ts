import type { KeyError } from '../errors/key-error.ts';
import type { SignatureError } from '../errors/signature-error.ts';
import { warn } from '../errors/warn.ts';
import type { DeliveryReference } from '../inbox/inbox.ts';
import type { DeliveryReport } from './delivery-report.ts';
import type { RequestRefusalCode } from './outcome.ts';
import { bodyWarning, type RefusalCode, requestWarning, unverifiedWarning } from './refusal-warning.ts';
import type { ResolvedWebhooksOptions } from './webhooks-options.ts';

/** Informs the operator and the user's hooks. Nothing waits for a hook, and nothing here throws. */
export interface Reporting {
  /** Calls `onDelivery`; absent if there is none, so that nothing is measured needlessly. */
  readonly delivery: ((report: DeliveryReport) => void) | undefined;
  /** Calls `onError`. */
  error(error: unknown, delivery: DeliveryReference): void;
  /** Warns once per code: otherwise anybody who can reach the address could fill the log. */
  refusal(code: RequestRefusalCode, remedy?: string): void;
  /** The same for a body that could not be verified, and calls `onRefused`. */
  refusedBody(rawBody: string | Uint8Array, error: SignatureError): void;
  /** The same for a body that nobody could verify now. A key ring itself tells of keys that it could not load. */
  unverified(error: KeyError): void;
}

type Warned = RefusalCode | 'key_search_limited' | 'onDelivery' | 'onRefused';

export function makeReporting({
  onError,
  onDelivery,
  onRefused,
}: Pick<ResolvedWebhooksOptions, 'onError' | 'onDelivery' | 'onRefused'>): Reporting {
  const warned = new Set<Warned>();

  function warnOnce(about: Warned, message: () => string): void {
    if (warned.has(about)) return;
    warned.add(about);
    warn(message());
  }

  // Once per hook: one that fails is likely to fail every time.
  const deliveryHookFailed = () =>
    warnOnce('onDelivery', () => 'onDelivery failed; the answers are not affected.');
  const refusedHookFailed = () =>
    warnOnce('onRefused', () => 'onRefused failed; the answers are not affected.');

  return {
    delivery: onDelivery && ((report) => settle(() => onDelivery(report), deliveryHookFailed)),
    error: (error, delivery) =>
      settle(
        () => onError(error, delivery),
        () => warn('onError failed; what it should have told of is not affected.'),
      ),
    refusal: (code, remedy) => warnOnce(code, () => requestWarning(code, remedy)),
    refusedBody(rawBody, error) {
      warnOnce(error.code, () => bodyWarning(error));
      if (onRefused !== undefined) settle(() => onRefused({ rawBody, error }), refusedHookFailed);
    },
    unverified({ code }) {
      if (code === 'key_search_limited') warnOnce(code, unverifiedWarning);
    },
  };
}

function settle(call: () => unknown, onFailure: () => void): void {
  void (async () => call())().catch(onFailure);
}
