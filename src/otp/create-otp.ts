import { type CheckedOtp, checkCode } from './check-code.ts';
import { flowKey, transact } from './flow.ts';
import { type CheckOptions, checkId, type IssueRequest } from './otp-input.ts';
import { type OtpOptions, readOtpOptions } from './otp-options.ts';
import { reportCall } from './otp-report.ts';
import { type IssuedOtp, issueCode, resendCode } from './send-code.ts';

/** Issues and checks one-time codes: see {@link createOtp}. */
export interface Otp {
  /**
   * Sends a code to a phone number. The code is stored before it is sent, and kept only as a hash.
   *
   * @throws {ValidationError} for malformed input, before anything is stored
   * @throws {OtpError}
   */
  issue(request: IssueRequest): Promise<IssuedOtp>;
  /**
   * Sends another code for the same id, once `resendAt` has passed. Earlier codes stay valid for their time, since
   * messages may overtake each other; all share one budget of attempts.
   *
   * @throws {OtpError} `not_allowed` when the id is unknown, used, expired or exhausted
   */
  resend(id: string): Promise<IssuedOtp>;
  /**
   * Checks a code that was typed in. It is accepted once. Of checks at the same time, at most `maxAttempts` are compared
   * and at most one is accepted.
   *
   * @param code as typed: `codeLength` digits of any script, also with blanks or dashes between them. Any other text costs no
   *   attempt
   * @throws {ValidationError} for malformed input
   * @throws {OtpError} `store_unavailable`: then nothing was accepted, though an attempt may have been counted, or the code
   *   used up
   */
  check(id: string, code: string, options: CheckOptions): Promise<CheckedOtp>;
  /** Makes the codes of an id invalid. No error without codes. @throws {OtpError} `store_unavailable` */
  cancel(id: string): Promise<void>;
}

/**
 * One-time codes over the messenger: made, stored as hashes, sent, limited and checked.
 *
 * @throws {ConfigurationError} `invalid_option`
 * @example
 * ```ts
 * const otp = createOtp({
 *   messenger: new MessengerClient({ deployment, apiKey }),
 *   store: sqliteStore({ path: 'codes.sqlite' }),
 *   secrets: [process.env.OTP_SECRET ?? ''],
 *   allowedPrefixes: ['+234'],
 * });
 * const { id } = await otp.issue({ to_phone: '+234 801 234 5678', purpose: 'sign-in' });
 * const checked = await otp.check(id, '493 021', { purpose: 'sign-in' });
 * if (checked.ok) signIn(checked.to_phone);
 * ```
 */
export function createOtp(options: OtpOptions): Otp {
  const settings = readOtpOptions(options);
  const { store, onOtp } = settings;
  const deliveryOf = ({ delivery }: IssuedOtp) => delivery;

  return Object.freeze({
    issue: (request) =>
      reportCall({ action: 'issue', onOtp, outcomeOf: deliveryOf }, () => issueCode(settings, request)),
    resend: (id) =>
      reportCall({ action: 'resend', onOtp, outcomeOf: deliveryOf }, () => resendCode(settings, id)),
    check: (id, code, checkOptions) =>
      reportCall(
        { action: 'check', onOtp, outcomeOf: (checked) => (checked.ok ? 'accepted' : checked.reason) },
        () => checkCode(settings, { id, code, checkOptions }),
      ),
    cancel: (id) =>
      reportCall({ action: 'cancel', onOtp, outcomeOf: () => 'cancelled' }, async () => {
        const key = flowKey(checkId('cancel', id));
        await transact(store, [key], (records) => records.delete(key));
      }),
  } satisfies Otp);
}
