import { ValidationError } from '../../errors/validation-error.ts';

/**
 * What can happen to an order after it is created, and the event it posts:
 *
 * - `fiat_received`: `event.buy.received.fiat`
 * - `no_kyc`: `event.buy.received.fiat_kyc_error` with `NO_KYC` and an address for KYC
 * - `third_party_payment`: `event.buy.received.fiat_kyc_error` with the third-party value
 * - `third_party_error`: `event.buy.third_party_error`
 * - `credited`: `event.buy.credited.crypto`
 * - `refunded`: `buy.event.close`
 */
export type SandboxOrderStep =
  | 'fiat_received'
  | 'no_kyc'
  | 'third_party_payment'
  | 'third_party_error'
  | 'credited'
  | 'refunded';

/** The last thing that happened to an order. */
export type SandboxOrderState = 'created' | SandboxOrderStep;

/** After a hold the payment is accepted, held for another reason, credited, or refunded. */
const afterHold = ['fiat_received', 'credited', 'refunded'] as const;

const allSteps: readonly SandboxOrderStep[] = [
  'fiat_received',
  'no_kyc',
  'third_party_payment',
  'third_party_error',
  'credited',
  'refunded',
];

/** The sandbox's choice, since the contract shows no transitions. */
const nextSteps = {
  created: ['fiat_received', 'no_kyc', 'third_party_payment', 'third_party_error'],
  fiat_received: ['no_kyc', 'third_party_payment', 'third_party_error', 'credited', 'refunded'],
  no_kyc: ['third_party_payment', 'third_party_error', ...afterHold],
  third_party_payment: ['no_kyc', 'third_party_error', ...afterHold],
  third_party_error: ['no_kyc', 'third_party_payment', ...afterHold],
  credited: [],
  refunded: [],
} as const satisfies Record<SandboxOrderState, readonly SandboxOrderStep[]>;

/** The steps that an order in this state can take. */
export function stepsAfter(
  state: SandboxOrderState,
  transitions: 'checked' | 'any',
): readonly SandboxOrderStep[] {
  if (transitions === 'checked') return nextSteps[state];
  return allSteps.filter((step) => step !== state);
}

/** Returns if an order in this state can take the step. @throws {ValidationError} naming the steps that it can take */
export function checkStep(
  state: SandboxOrderState,
  step: SandboxOrderStep,
  transitions: 'checked' | 'any',
): void {
  const possible = stepsAfter(state, transitions);
  if (possible.includes(step)) return;
  const message = Object.hasOwn(nextSteps, step)
    ? `cannot follow "${state}", which is followed by ${possible.join(', ') || 'nothing'}`
    : `must be one of ${possible.join(', ') || 'none: the order is closed'}`;
  throw new ValidationError('advance', [{ path: ['step'], message }]);
}
