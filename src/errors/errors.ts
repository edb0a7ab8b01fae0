import type { OrderState } from '../orders/order-state.ts';
import type { OtpLimit } from '../otp/otp-limit.ts';
import {
  configurationRemedies,
  inboxRemedies,
  keyRemedies,
  onceRemedies,
  orderRemedies,
  otpRemedies,
  type Remedies,
  type requestRefusalRemedies,
  requestRemedies,
  signatureRemedies,
  storeRemedies,
  validationRemedies,
} from './remedies.ts';

/** Marks our errors, so that the guards work across two copies of the package. */
const brand = Symbol.for('partner-exchange-sdk.error');
/** Where an error keeps the parts of its message, for an error that wraps it, of another copy of the package too. */
const partsKey = Symbol.for('partner-exchange-sdk.error.parts');

/** What a message is made of. Its last part, the link, follows from the code. */
export interface MessageParts {
  /** What failed, on what: one sentence. */
  readonly what: string;
  /** What to do: one sentence. Empty where the first says what must be. */
  readonly remedy: string;
}

export interface ErrorDetails {
  /** What to do, where the place knows more than the table of remedies. */
  readonly remedy?: string | undefined;
  readonly cause?: unknown;
  readonly assumptions?: readonly string[] | undefined;
  readonly retryAfterMs?: number | undefined;
}

/**
 * The base of every error this package throws.
 *
 * `code` is a stable literal to branch on; `message` says what failed, on what, what to do next, and where to read more.
 * No error ever holds a secret key, a one-time code, an expected signature or a request body.
 */
export abstract class PartnerExchangeError<Code extends string = string> extends Error {
  /** Stable, literal: branch on it. docs/errors.md says of each what it means and what to do. */
  readonly code: Code;
  /** Ids of the assumptions (see the ledger) that may be wrong when this error occurs; a wrong one can look like a forgery. */
  readonly assumptions: readonly string[];
  /**
   * Milliseconds after which it makes sense to try again, where that is known: a wait that the service asked for
   * (`Retry-After`, at most a day), the end of a limit, or the end of what is under way. A member only where it is known.
   */
  declare readonly retryAfterMs: number | undefined;

  /** @internal Only this package makes errors: its parameters can change. */
  constructor(
    { kind, remedies }: { kind: string; remedies: Remedies },
    code: Code,
    what: string,
    { remedy, cause, assumptions = [], retryAfterMs }: ErrorDetails = {},
  ) {
    const parts: MessageParts = { what, remedy: remedy ?? remedyOf(remedies, code) };
    super(boundedMessage(parts, code), cause === undefined ? undefined : { cause });
    this.code = code;
    this.assumptions = assumptions;
    // A printed error shows no wait that is not known.
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
    // Not enumerable: a printed error shows its name once. Set by us, so that minified builds keep it.
    Object.defineProperty(this, 'name', { value: kind, configurable: true, writable: true });
    Object.defineProperty(this, brand, { value: kind });
    Object.defineProperty(this, partsKey, { value: parts });
  }
}

function remedyOf(remedies: Remedies, code: string): string {
  return Object.hasOwn(remedies, code) ? (remedies[code] ?? '') : '';
}

/** Most characters of the message of an error: the rest is behind its link. */
export const maxMessage = 250;

/** The message of an error, cut off before its link where it is too long. */
function boundedMessage({ what, remedy }: MessageParts, code: string): string {
  const text = [what, remedy].map(fullSentence).filter(Boolean).join(' ');
  const link = linkOf(code);
  return `${cutText(text, maxMessage - link.length - 1)} ${link}`;
}

/** Cuts a text to this many characters: the end is left out, and no part of a word or of a character stays. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = text.slice(0, most - 1);
  const words = start.replace(/\s+\S*$/, '');
  // A single long word is cut itself.
  return `${(words.length > most / 2 ? words : start).replace(/\p{Cs}$/u, '').replace(/[\s,;:.]+$/, '')}…`;
}

export function composeMessage({ what, remedy }: MessageParts, code: string): string {
  return [fullSentence(what), fullSentence(remedy), linkOf(code)].filter(Boolean).join(' ');
}

function linkOf(code: string): string {
  return `See partner-exchange-sdk/docs/errors.md#${code}.`;
}

function fullSentence(text: string): string {
  return text === '' || /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** The message of an error in its whole length. */
export function wholeMessage(error: PartnerExchangeError): string {
  return partsKey in error ? composeMessage(partsOf(error), error.code) : error.message;
}

/** The parts of an error's message, for an error that wraps it. */
export function partsOf(error: PartnerExchangeError): MessageParts {
  // Sound: only our constructor sets it, of whichever copy of the package.
  return partsKey in error ? (error[partsKey] as MessageParts) : { what: error.message, remedy: '' };
}

/** What failed, without advice and link: for a text that has advice of its own. */
export function whatFailed(error: PartnerExchangeError): string {
  return partsOf(error).what;
}

/** A copy of an error in other words, for code that knows more than the code that threw it. All other members stay. */
export function reworded<Kind extends PartnerExchangeError>(error: Kind, words: Partial<MessageParts>): Kind {
  const parts: MessageParts = { ...partsOf(error), ...words };
  const { message, stack, ...members } = Object.getOwnPropertyDescriptors(error);
  // An error by itself, since a copy that only inherits has no stack.
  const copy = new Error(boundedMessage(parts, error.code));
  Object.defineProperties(copy, { ...members, [partsKey]: { value: parts } });
  return Object.setPrototypeOf(copy, Object.getPrototypeOf(error));
}

/** The kind of an error of ours, whichever copy of the package made it. */
export function kindOf(error: unknown): string | undefined {
  try {
    if (!(error instanceof Error) || !(brand in error)) return undefined;
    const kind = error[brand];
    return typeof kind === 'string' ? kind : undefined;
  } catch {
    // A handler may throw anything, even a proxy that throws when it is read. That is not an error of ours.
    return undefined;
  }
}

/** The codes of {@link ConfigurationError}: docs/errors.md explains each. @useDeclaredType */
export type ConfigurationErrorCode = keyof typeof configurationRemedies;

/** Something is set up wrongly. Thrown before anything is sent; fix the code or the configuration. */
export class ConfigurationError extends PartnerExchangeError<ConfigurationErrorCode> {
  /** @internal */
  constructor(code: ConfigurationErrorCode, what: string, details?: ErrorDetails) {
    super({ kind: 'ConfigurationError', remedies: configurationRemedies }, code, what, details);
  }
}

/** True for a {@link ConfigurationError}, also of another copy of the package. */
export function isConfigurationError(error: unknown): error is ConfigurationError {
  return kindOf(error) === 'ConfigurationError';
}

/** The codes of {@link InboxError}: docs/errors.md explains each. @useDeclaredType */
export type InboxErrorCode = keyof typeof inboxRemedies;

/** An inbox could not store or handle a delivery. Of the body it holds no more than the event's name and order id. */
export class InboxError extends PartnerExchangeError<InboxErrorCode> {
  /** @internal */
  constructor(code: InboxErrorCode, what: string, details?: ErrorDetails) {
    super({ kind: 'InboxError', remedies: inboxRemedies }, code, what, details);
  }
}

/** True for an {@link InboxError}, also of another copy of the package. */
export function isInboxError(error: unknown): error is InboxError {
  return kindOf(error) === 'InboxError';
}

/** The codes of {@link KeyError}: docs/errors.md explains each. @useDeclaredType */
export type KeyErrorCode = keyof typeof keyRemedies;

/** Keys could not be loaded, stored or rotated. Never holds a key. */
export class KeyError extends PartnerExchangeError<KeyErrorCode> {
  /** @internal */
  constructor(code: KeyErrorCode, what: string, details?: ErrorDetails) {
    super({ kind: 'KeyError', remedies: keyRemedies }, code, what, details);
  }
}

/** True for a {@link KeyError}, also of another copy of the package. */
export function isKeyError(error: unknown): error is KeyError {
  return kindOf(error) === 'KeyError';
}

/** The codes of {@link OnceError}: docs/errors.md explains each. @useDeclaredType */
export type OnceErrorCode = keyof typeof onceRemedies;

/** `once` did not run an effect, or `settleOnce` did not settle it. Holds neither its key nor its result. */
export class OnceError extends PartnerExchangeError<OnceErrorCode> {
  /** @internal */
  constructor(code: OnceErrorCode, what: string, details?: ErrorDetails) {
    super({ kind: 'OnceError', remedies: onceRemedies }, code, what, details);
  }
}

/** True for an {@link OnceError}, also of another copy of the package. */
export function isOnceError(error: unknown): error is OnceError {
  return kindOf(error) === 'OnceError';
}

/** The codes of {@link OrderError}: docs/errors.md explains each. @useDeclaredType */
export type OrderErrorCode = keyof typeof orderRemedies;

/** An order journal refused a call because of the state of the order. Holds only the id of the payload. */
export class OrderError extends PartnerExchangeError<OrderErrorCode> {
  /** The id of the order. */
  readonly partner_order_id: string;
  /** The state of the order; `undefined` if the journal does not have it. */
  readonly state: OrderState | undefined;
  /** @internal */
  constructor(
    code: OrderErrorCode,
    what: string,
    details: ErrorDetails & {
      readonly partner_order_id: string;
      readonly state?: OrderState | undefined;
    },
  ) {
    super({ kind: 'OrderError', remedies: orderRemedies }, code, what, details);
    this.partner_order_id = details.partner_order_id;
    this.state = details.state;
  }
}

/** True for an {@link OrderError}, also of another copy of the package. */
export function isOrderError(error: unknown): error is OrderError {
  return kindOf(error) === 'OrderError';
}

/** The codes of {@link OtpError}: docs/errors.md explains each. @useDeclaredType */
export type OtpErrorCode = keyof typeof otpRemedies;

/** A one-time code could not be issued, sent again or checked. Holds neither a code nor a phone number. */
export class OtpError extends PartnerExchangeError<OtpErrorCode> {
  /** The limit that was reached, for `limit_reached`. */
  readonly limit: OtpLimit | undefined;
  /** The member of the request that is at fault: `refused`, and `not_allowed` for its prefix, are about the number. */
  readonly member: 'to_phone' | undefined;

  /** @internal */
  constructor(
    code: OtpErrorCode,
    what: string,
    details: ErrorDetails & {
      readonly limit?: OtpLimit | undefined;
      readonly member?: 'to_phone' | undefined;
    } = {},
  ) {
    super({ kind: 'OtpError', remedies: otpRemedies }, code, what, details);
    this.limit = details.limit;
    this.member = details.member;
  }
}

/** True for an {@link OtpError}, also of another copy of the package. */
export function isOtpError(error: unknown): error is OtpError {
  return kindOf(error) === 'OtpError';
}

/**
 * True if the phone number is at fault: it is no number, its prefix is not in `allowedPrefixes`, or the service does not
 * take it. Ask the person for another one.
 *
 * @example
 * ```ts
 * if (isPhoneError(error)) return reply.code(422).send({ error: 'Please check the number.' });
 * ```
 */
export function isPhoneError(error: unknown): error is ValidationError | OtpError {
  if (isValidationError(error)) return error.issues.some(({ path: [member] }) => member === 'to_phone');
  return isOtpError(error) && error.member === 'to_phone';
}

/**
 * Whether the service can have acted on a failed request.
 *
 * - `not-sent`: it never reached the service; repeating it is safe.
 * - `refused`: the service answered that it did not do it.
 * - `unknown`: it may or may not have acted. Look before you repeat it.
 */
export type RequestOutcome = 'not-sent' | 'refused' | 'unknown';

/** The codes of {@link RequestError}: docs/errors.md explains each. @useDeclaredType */
export type RequestErrorCode = keyof typeof requestRemedies;

export type RequestErrorDetails = ErrorDetails &
  Pick<RequestError, 'outcome' | 'operation' | 'method' | 'url'> &
  Partial<Pick<RequestError, 'attempts' | 'status' | 'headers' | 'body' | 'issues'>>;

/** A request failed; {@link outcome} says whether the service can have acted on it. */
export class RequestError extends PartnerExchangeError<RequestErrorCode> {
  /** Whether the service can have acted. */
  readonly outcome: RequestOutcome;
  /** Which call failed, e.g. `createOrder`. */
  readonly operation: string;
  /** HTTP method. */
  readonly method: string;
  /** Without query values. */
  readonly url: string;
  /** How often it was sent: 0 if never, 1 if it was not repeated. */
  readonly attempts: number;
  /** HTTP status, when there was a reply. */
  readonly status: number | undefined;
  /** The faults of the reply, from the caller's schema. */
  readonly issues: readonly ValidationIssue[] | undefined;
  /**
   * Reply headers, when there was a reply; values that repeat the request's secrets are hidden, as in `body`. Not
   * enumerable: a printed error does not show them.
   */
  declare readonly headers: Headers | undefined;
  /**
   * The reply's body: parsed JSON, or text when it is not JSON; `undefined` when none was read. Texts in it that repeat
   * our keys, a signature or the request are hidden whole. All else stays, such as new keys, which are nowhere else: log
   * `message`. Not enumerable: a printed error does not show it.
   */
  declare readonly body: unknown;

  /** @internal */
  constructor(code: RequestErrorCode, what: string, details: RequestErrorDetails) {
    super({ kind: 'RequestError', remedies: requestRemedies }, code, what, details);
    this.outcome = details.outcome;
    this.operation = details.operation;
    this.method = details.method;
    this.url = details.url;
    this.attempts = details.attempts ?? 1;
    this.status = details.status;
    this.issues = details.issues;
    Object.defineProperty(this, 'headers', { value: details.headers });
    Object.defineProperty(this, 'body', { value: details.body });
  }
}

/** True for a {@link RequestError}, also of another copy of the package. */
export function isRequestError(error: unknown): error is RequestError {
  return kindOf(error) === 'RequestError';
}

/**
 * Whether the service can have acted on a call that failed. Clients throw the errors of three kinds before anything
 * leaves; after any other error the request may have left, as after a StoreError of a client of the user's own.
 */
export function outcomeOf(error: unknown): RequestOutcome {
  if (isRequestError(error)) return error.outcome;
  return isConfigurationError(error) || isValidationError(error) || isKeyError(error)
    ? 'not-sent'
    : 'unknown';
}

/** Why webhooks refused a request before its signature was checked. @useDeclaredType */
export type RequestRefusalCode = keyof typeof requestRefusalRemedies;

/** The codes of {@link SignatureError}: docs/errors.md explains each. @useDeclaredType */
export type SignatureErrorCode = keyof typeof signatureRemedies;

/** A body could not be verified. Holds neither the body, nor a key, nor the expected signature. */
export class SignatureError extends PartnerExchangeError<SignatureErrorCode> {
  /** @internal */
  constructor(code: SignatureErrorCode, what: string, details?: ErrorDetails) {
    super({ kind: 'SignatureError', remedies: signatureRemedies }, code, what, details);
  }
}

/** True for a {@link SignatureError}, also of another copy of the package. */
export function isSignatureError(error: unknown): error is SignatureError {
  return kindOf(error) === 'SignatureError';
}

/** The codes of {@link StoreError}: docs/errors.md explains each. @useDeclaredType */
export type StoreErrorCode = keyof typeof storeRemedies;

/** A record store could not do a transaction. Holds no keys or values of records. */
export class StoreError extends PartnerExchangeError<StoreErrorCode> {
  /** @internal */
  constructor(code: StoreErrorCode, what: string, details?: ErrorDetails) {
    super({ kind: 'StoreError', remedies: storeRemedies }, code, what, details);
  }
}

/** True for a {@link StoreError}, also of another copy of the package. */
export function isStoreError(error: unknown): error is StoreError {
  return kindOf(error) === 'StoreError';
}

/** The fault of one member of an input, a reply or an event. Never holds the member's value. */
export interface ValidationIssue {
  /** Where it is, from the outermost member inwards; empty for the whole. */
  readonly path: readonly (string | number)[];
  /** The fault, without the value. */
  readonly message: string;
}

/** The codes of {@link ValidationError}: docs/errors.md explains each. @useDeclaredType */
export type ValidationErrorCode = keyof typeof validationRemedies;

/** The input of a call does not fit. Thrown before anything is signed, written or sent. */
export class ValidationError extends PartnerExchangeError<ValidationErrorCode> {
  /** Each member that does not fit. */
  readonly issues: readonly ValidationIssue[];
  /** Nothing has reached the service. */
  readonly outcome = 'not-sent';

  /** @internal */
  constructor(
    subject: string,
    issues: readonly ValidationIssue[],
    { code = 'invalid_input', ...details }: ErrorDetails & { readonly code?: ValidationErrorCode } = {},
  ) {
    const what = `${subject}: ${issues.map(describe).join('; ')}`;
    super({ kind: 'ValidationError', remedies: validationRemedies }, code, what, details);
    this.issues = issues;
  }
}

/** True for a {@link ValidationError}, also of another copy of the package. */
export function isValidationError(error: unknown): error is ValidationError {
  return kindOf(error) === 'ValidationError';
}

function describe(issue: ValidationIssue): string {
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`;
}

/**
 * Every error of this package. Nearly no two classes share a `code`, so a `switch` over it narrows to the class:
 * `store_unavailable` is both of inboxes and of one-time codes; `in_progress` and `already_settled` are of orders and of
 * `once`.
 *
 * @example
 * ```ts
 * try {
 *   await exchange.createOrder(order);
 * } catch (error) {
 *   if (!isPartnerExchangeError(error)) throw error;
 *   switch (error.code) {
 *     case 'invalid_input':
 *       return reject(error.issues);
 *     case 'http_error':
 *       return error.outcome === 'refused' ? refuse(error.status) : lookUp(order);
 *     default:
 *       throw error;
 *   }
 * }
 * ```
 */
export type SdkError =
  | ConfigurationError
  | InboxError
  | KeyError
  | OnceError
  | OrderError
  | OtpError
  | RequestError
  | SignatureError
  | StoreError
  | ValidationError;

/** True for any error of this package, also of another installed copy. */
export function isPartnerExchangeError(error: unknown): error is SdkError {
  return kindOf(error) !== undefined;
}

/** Why a delivery failed: the code of an error of this package, or `handler_failed`. */
export type FailureCode = SdkError['code'] | 'handler_failed';

/** A handler may throw anything, so only codes of our own are shown. */
export function failureCode(error: unknown): FailureCode {
  return isPartnerExchangeError(error) ? error.code : 'handler_failed';
}

/** The code of an error of the system or of a driver, such as `ENOENT`; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
