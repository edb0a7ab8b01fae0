import { isOtpError, isValidationError, type OtpErrorCode } from '../errors/errors.ts';
import { traced } from '../internal/tracing.ts';
import { callHook } from '../internal/warn.ts';
import type { OtpLimit } from './otp-limit.ts';

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
  /** The limit that was reached, for `limit_reached`. */
  readonly limit?: OtpLimit | undefined;
  /** As given to `issue`; absent where it is not known. */
  readonly purpose?: string | undefined;
  /** The phone number with most of its digits hidden: `+234********78`. Absent where the number is not known. */
  readonly to_phone?: string | undefined;
  /** Milliseconds of the whole call. */
  readonly durationMs: number;
}

/** Adds facts to the report of a call, also of one that fails later. */
export type NoteFacts = (facts: Partial<OtpReport>) => void;

interface ReportedCall<Result> extends Pick<OtpReport, 'action'> {
  readonly onOtp: ((report: OtpReport) => unknown) | undefined;
  readonly outcomeOf: (result: Result) => OtpReport['outcome'];
}

/** What subscribers of `partner-exchange:otp` get. */
type OtpTrace = Pick<OtpReport, 'action'> & {
  readonly outcome?: OtpReport['outcome'];
  readonly code?: string;
};

/** Runs a call, traces it, and reports its outcome. */
export function reportCall<Result>(
  { action, onOtp, outcomeOf }: ReportedCall<Result>,
  run: (note: NoteFacts) => Promise<Result>,
): Promise<Result> {
  const begun = performance.now();
  let facts: Partial<OtpReport> = {};
  const report = (end: Pick<OtpReport, 'outcome' | 'limit'>) => {
    const durationMs = performance.now() - begun;
    if (onOtp !== undefined) callHook('onOtp', () => onOtp({ action, ...end, ...facts, durationMs }));
  };
  return traced<OtpTrace, Result>(
    'otp',
    () => ({
      start: () => ({ action }),
      result: (result) => ({ outcome: outcomeOf(result) }),
      failure: (error) => ({ outcome: endOf(error).outcome, code: endOf(error).outcome }),
    }),
    async () => {
      try {
        const result = await run((added) => {
          facts = { ...facts, ...added };
        });
        report({ outcome: outcomeOf(result) });
        return result;
      } catch (error) {
        report(endOf(error));
        throw error;
      }
    },
  );
}

function endOf(error: unknown): Pick<OtpReport, 'outcome' | 'limit'> {
  if (!isOtpError(error)) return { outcome: isValidationError(error) ? 'invalid_input' : 'failed' };
  const { code, limit } = error;
  return { outcome: code, ...(limit !== undefined && { limit }) };
}
