import type { SignatureError } from '../errors/signature-error.ts';
import { warn } from '../errors/warn.ts';
import type { DeliveryReference } from '../inbox/inbox.ts';
import type { DeliveryReport } from './delivery-report.ts';
import { type RefusalCode, refusalWarning } from './refusal-warning.ts';
import type { ResolvedWebhooksOptions } from './webhooks-options.ts';

/** Tells the operator and the user's hooks. Nothing waits for a hook, and nothing here throws. */
export interface Reporting {
  /** `onDelivery`; absent when there is none, so that nothing is measured for nobody. */
  readonly delivery: ((report: DeliveryReport) => void) | undefined;
  /** `onError`. */
  error(error: unknown, delivery: DeliveryReference): void;
  /** One process warning for each code: whoever can reach the address could fill the log otherwise. */
  refusal(code: RefusalCode, advice?: string): void;
  /** The same for a body that could not be verified, and `onRefused`. */
  refusedBody(rawBody: string | Uint8Array, error: SignatureError): void;
}

export function makeReporting({
  onError,
  onDelivery,
  onRefused,
}: Pick<ResolvedWebhooksOptions, 'onError' | 'onDelivery' | 'onRefused'>): Reporting {
  // A hook that fails is likely to fail every time.
  const warnOnce = onceEach(warn);
  const warnOfRefusal = onceEach((code: RefusalCode, advice?: string) => warn(refusalWarning(code, advice)));
  return {
    delivery:
      onDelivery &&
      ((report) =>
        settle(
          () => onDelivery(report),
          () => warnOnce('onDelivery failed; the answers are not affected.'),
        )),
    error: (error, delivery) =>
      settle(
        () => onError(error, delivery),
        () => warn('onError failed; what it should have told of is not affected.'),
      ),
    refusal: warnOfRefusal,
    refusedBody(rawBody, error) {
      warnOfRefusal(error.code);
      if (onRefused === undefined) return;
      settle(
        () => onRefused({ rawBody, error }),
        () => warnOnce('onRefused failed; the answers are not affected.'),
      );
    },
  };
}

/** Calls the function once for each value of its first argument. */
function onceEach<First, Rest extends unknown[]>(
  act: (first: First, ...rest: Rest) => void,
): (first: First, ...rest: Rest) => void {
  const seen = new Set<First>();
  return (first, ...rest) => {
    if (seen.has(first)) return;
    seen.add(first);
    act(first, ...rest);
  };
}

function settle(call: () => unknown, onFailure: () => void): void {
  void (async () => call())().catch(onFailure);
}
