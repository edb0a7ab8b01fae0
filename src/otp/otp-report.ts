import type { OtpErrorCode, OtpLimit } from '../errors/otp-error.ts';
import { isOtpError } from '../errors/otp-error.ts';
import { isValidationError } from '../errors/validation-error.ts';
import { warnOnce } from '../errors/warn.ts';

/** What came of one call, for metrics and logs. It holds no code, no id and no whole phone number. */
export interface OtpReport {
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
  readonly purpose?: string | undefined;
  /** With most of its digits hidden: `+234********78`. Absent where the number is not known. */
  readonly to_phone?: string | undefined;
  /** The place of the device in `messenger`, from 0, which took the message or refused it last. */
  readonly device?: number | undefined;
  /** Milliseconds of the whole call. */
  readonly durationMs: number;
  /** Milliseconds of these in which the messenger had the message. */
  readonly messengerMs?: number | undefined;
}

/** What a call finds out on its way, for its report. */
export type ReportDetails = {
  -readonly [Member in 'purpose' | 'to_phone' | 'device' | 'messengerMs']?: OtpReport[Member];
};

/** Runs a call and reports what came of it. */
export async function reported<Result>(
  { action, onOtp }: Pick<OtpReport, 'action'> & { onOtp: ((report: OtpReport) => unknown) | undefined },
  call: (details: ReportDetails) => Promise<Result>,
  outcomeOf: (result: Result) => OtpReport['outcome'],
): Promise<Result> {
  if (onOtp === undefined) return await call({});
  const details: ReportDetails = {};
  const begun = performance.now();
  const tell = (outcome: OtpReport['outcome'], limit?: OtpLimit) => {
    const durationMs = performance.now() - begun;
    const report = { action, outcome, ...details, ...(limit !== undefined && { limit }), durationMs };
    void (async () => onOtp(report))().catch(() => warnOnce('onOtp failed; the calls are not affected.'));
  };
  try {
    const result = await call(details);
    tell(outcomeOf(result));
    return result;
  } catch (error) {
    if (isOtpError(error)) tell(error.code, error.limit);
    else tell(isValidationError(error) ? 'invalid_input' : 'failed');
    throw error;
  }
}
