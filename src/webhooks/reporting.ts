import { warn } from '../errors/warn.ts';
import type { DeliveryReference } from '../inbox/inbox.ts';
import type { DeliveryReport } from './delivery-report.ts';
import type { CheckedOptions } from './webhooks-options.ts';

/** Tells the user's hooks. Nothing waits for them, and nothing here throws. */
export interface Reporting {
  /** `onDelivery`; absent when there is none, so that nothing is measured for nobody. */
  readonly delivery: ((report: DeliveryReport) => void) | undefined;
  /** `onError`. */
  error(error: unknown, delivery: DeliveryReference): void;
}

export function makeReporting({
  onError,
  onDelivery,
}: Pick<CheckedOptions, 'onError' | 'onDelivery'>): Reporting {
  let warned = false;
  return {
    delivery:
      onDelivery &&
      ((report) => {
        settle(
          () => onDelivery(report),
          () => {
            // Once: it is likely to fail for every delivery.
            if (!warned) warn('onDelivery failed; the answers are not affected.');
            warned = true;
          },
        );
      }),
    error: (error, delivery) =>
      settle(
        () => onError(error, delivery),
        () => warn('onError failed; what it should have told of is not affected.'),
      ),
  };
}

function settle(call: () => unknown, onFailure: () => void): void {
  void (async () => call())().catch(onFailure);
}
