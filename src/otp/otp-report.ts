import { isOtpError, isValidationError, type OtpErrorCode } from '../errors/errors.ts';
import { callHook } from '../internal/warn.ts';
import type { OtpLimit } from './otp-limit.ts';

/** The outcome of one call, for metrics and logs. Holds no code, no id and no phone number. */
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
  /** The limit that was reached, for `limit_reached`. */
  readonly limit?: OtpLimit | undefined;
  /** Milliseconds of the whole call. */
  readonly durationMs: number;
}

interface ReportedCall<Result> extends Pick<OtpReport, 'action'> {
  readonly onOtp: ((report: OtpReport) => unknown) | undefined;
  readonly outcomeOf: (result: Result) => OtpReport['outcome'];
}

/** Runs a call and reports its outcome. */
export async function reportCall<Result>(
  { action, onOtp, outcomeOf }: ReportedCall<Result>,
  run: () => Promise<Result>,
): Promise<Result> {
  const begun = performance.now();
  const report = (end: Pick<OtpReport, 'outcome' | 'limit'>) => {
    const durationMs = performance.now() - begun;
    if (onOtp !== undefined) callHook('onOtp', () => onOtp({ action, ...end, durationMs }));
  };
  try {
    const result = await run();
    report({ outcome: outcomeOf(result) });
    return result;
  } catch (error) {
    report(endOf(error));
    throw error;
  }
}

function endOf(error: unknown): Pick<OtpReport, 'outcome' | 'limit'> {
  if (!isOtpError(error)) return { outcome: isValidationError(error) ? 'invalid_input' : 'failed' };
  return { outcome: error.code, limit: error.limit };
}
