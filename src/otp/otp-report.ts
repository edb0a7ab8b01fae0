import {
  isOtpError,
  isPartnerExchangeError,
  isRequestError,
  isValidationError,
  type OtpErrorCode,
  type RequestOutcome,
} from '../errors/errors.ts';
import { maskPhone } from '../internal/phone.ts';
import { traced } from '../internal/tracing.ts';
import { callHook } from '../internal/warn.ts';
import type { OtpLimit } from './otp-limit.ts';
import type { SendResult } from './otp-messenger.ts';

/** The outcome of one call, for metrics and logs. Holds no code, no id and no whole phone number. */
export interface OtpReport {
  /** Which call it was. */
  readonly action: 'issue' | 'resend' | 'check' | 'cancel';
  /**
   * `sent` and `unknown` as in `delivery`; `accepted`, `wrong` and `not_valid` of a check; `cancelled`; the code of an
   * `OtpError`; `invalid_input` for a call with malformed input; `failed` for any other error.
   */
  readonly outcome:
    | 'sent'
    | 'unknown'
    | 'accepted'
    | 'wrong'
    | 'not_valid'
    | 'cancelled'
    | OtpErrorCode
    | 'invalid_input'
    | 'failed';
  /** Of `limit_reached`. */
  readonly limit?: OtpLimit | undefined;
  /** As given to `issue`; absent where it is not known. */
  readonly purpose?: string | undefined;
  /** With most of its digits hidden: `+234********78`. Absent where the number is not known. */
  readonly to_phone?: string | undefined;
  /** Milliseconds of the whole call. */
  readonly durationMs: number;
  /** Milliseconds of these that sending the message took. */
  readonly messengerMs?: number | undefined;
  /**
   * `sent`, or the `outcome` of its error, which says whether the message can have
   * left. A wrong key and a device that is not connected are `refused`, a host that is down is `not-sent`.
   */
  readonly messengerOutcome?: 'sent' | RequestOutcome | undefined;
  /** The `code` of its error, if it is one of this package: `connection_failed`, `http_error`, `not_configured` … */
  readonly messengerCode?: string | undefined;
  /** The HTTP status of its reply, where that was an error. */
  readonly messengerStatus?: number | undefined;
}

/** One call under way. It collects the facts for the report, also those of a call that fails. */
export interface OtpCall {
  /** @param subject `to_phone` in E.164, if it is known: the report hides most of it */
  about(subject: { readonly purpose: string; readonly to_phone?: string | undefined }): void;
  sent(result: SendResult, messengerMs: number): void;
}

interface ReportedCall<Result> extends Pick<OtpReport, 'action'> {
  readonly onOtp: ((report: OtpReport) => unknown) | undefined;
  readonly outcomeOf: (result: Result) => OtpReport['outcome'];
}

/** Runs a call, traces it, and reports its outcome. */
export function reportCall<Result>(
  reported: ReportedCall<Result>,
  run: (call: OtpCall) => Promise<Result>,
): Promise<Result> {
  const { action, outcomeOf } = reported;
  return traced<OtpTrace, Result>(
    'otp',
    () => ({
      start: () => ({ action }),
      result: (result) => ({ outcome: outcomeOf(result) }),
      failure: (error) => {
        const { outcome } = endOf(error);
        return { outcome, code: outcome };
      },
    }),
    () => runCall(reported, run),
  );
}

/** What subscribers of `partner-exchange:otp` get. */
type OtpTrace = Pick<OtpReport, 'action'> & {
  readonly outcome?: OtpReport['outcome'];
  readonly code?: string;
};

async function runCall<Result>(
  { action, onOtp, outcomeOf }: ReportedCall<Result>,
  run: (call: OtpCall) => Promise<Result>,
): Promise<Result> {
  const begun = performance.now();
  let facts: Partial<OtpReport> = {};
  const report = (end: Pick<OtpReport, 'outcome' | 'limit'>) => {
    const durationMs = performance.now() - begun;
    if (onOtp !== undefined) callHook('onOtp', () => onOtp({ action, ...end, ...facts, durationMs }));
  };
  try {
    const result = await run({
      about({ purpose, to_phone }) {
        facts = { ...facts, purpose, ...(to_phone !== undefined && { to_phone: maskPhone(to_phone) }) };
      },
      sent(sendResult, messengerMs) {
        facts = { ...facts, messengerMs, ...messengerFacts(sendResult) };
      },
    });
    report({ outcome: outcomeOf(result) });
    return result;
  } catch (error) {
    report(endOf(error));
    throw error;
  }
}

function endOf(error: unknown): Pick<OtpReport, 'outcome' | 'limit'> {
  if (!isOtpError(error)) return { outcome: isValidationError(error) ? 'invalid_input' : 'failed' };
  const { code, limit } = error;
  return { outcome: code, ...(limit !== undefined && { limit }) };
}

function messengerFacts({ outcome, error }: SendResult): Partial<OtpReport> {
  const status = isRequestError(error) ? error.status : undefined;
  return {
    // A refusal of the device is `not-sent` for the code.
    messengerOutcome: isRequestError(error) ? error.outcome : outcome,
    ...(isPartnerExchangeError(error) && { messengerCode: error.code }),
    ...(status !== undefined && { messengerStatus: status }),
  };
}
