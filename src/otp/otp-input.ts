import { isValidationError, ValidationError } from '../errors/validation-error.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { normalizePhone } from '../phone/normalize-phone.ts';
import { ipNetwork } from './ip-network.ts';

export interface IssueRequest {
  /** With its country code, in any notation: `+234 801 234 5678`. `normalizePhone` reads national notations. */
  readonly to_phone: string;
  /** What the code is for: `sign-in`, `withdraw`. A code for one purpose is never accepted for another. */
  readonly purpose: string;
  /** Whose code it is, or what it confirms: the id of a user, of a session, of a payment. Then `check` needs it too. */
  readonly subject?: string | undefined;
  /** Who asks for it, as your server sees it. Behind a proxy, take care that nobody can make it up. */
  readonly ip?: string | undefined;
}

export interface ResendOptions {
  /** @default the address of `issue` */
  readonly ip?: string | undefined;
}

export interface CheckOptions {
  /** As given to `issue`. */
  readonly purpose: string;
  /** As given to `issue`. */
  readonly subject?: string | undefined;
  /** Who types it in. An address with too many wrong codes cannot try more (limit `ip`). */
  readonly ip?: string | undefined;
}

const issueNames: OptionNames<IssueRequest> = { to_phone: true, purpose: true, subject: true, ip: true };
const resendNames: OptionNames<ResendOptions> = { ip: true };
const checkOptionNames: OptionNames<CheckOptions> = { purpose: true, subject: true, ip: true };

/** Checked input. */
export interface Claim {
  readonly purpose: string;
  readonly subject: string | undefined;
  readonly network: string | undefined;
}

/** @throws {ValidationError} {@link ConfigurationError} for an unknown member */
export function checkIssue(request: IssueRequest): Claim & { readonly to_phone: string } {
  checkNames('issue', request, issueNames);
  return { to_phone: checkPhone(request.to_phone), ...checkClaim('issue', request) };
}

/** @throws {ValidationError} {@link ConfigurationError} for an unknown option */
export function checkResend(options: ResendOptions): Pick<Claim, 'network'> {
  checkNames('resend', options, resendNames);
  return { network: checkIp('resend', options.ip) };
}

/** @throws {ValidationError} {@link ConfigurationError} for an unknown option */
export function checkClaimed(code: string, options: CheckOptions): Claim {
  checkNames('check', options, checkOptionNames);
  if (typeof code !== 'string') throw invalid('check', 'code', 'must be text: a number has no leading zeros');
  return checkClaim('check', options);
}

/** @throws {ValidationError} */
export function checkId(operation: string, id: string): string {
  if (typeof id !== 'string') throw invalid(operation, 'id', 'must be text');
  // Whatever somebody sends in place of an id: it is hashed, so it need not be long.
  return id.slice(0, 64);
}

function checkClaim(operation: string, { purpose, subject, ip }: CheckOptions): Claim {
  return {
    purpose: checkText(operation, 'purpose', purpose, 64),
    subject: subject === undefined ? undefined : checkText(operation, 'subject', subject, 256),
    network: checkIp(operation, ip),
  };
}

function checkText(operation: string, name: string, value: unknown, most: number): string {
  const isSound =
    typeof value === 'string' && value.length >= 1 && value.length <= most && value.isWellFormed();
  if (isSound) return value;
  throw invalid(operation, name, `must be text of 1 to ${most} characters`);
}

function checkIp(operation: string, ip: unknown): string | undefined {
  if (ip === undefined) return undefined;
  const network = typeof ip === 'string' ? ipNetwork(ip) : undefined;
  if (network === undefined)
    throw invalid(operation, 'ip', 'must be an IPv4 or IPv6 address, without a port');
  return network;
}

function checkPhone(to_phone: string): string {
  try {
    return normalizePhone(to_phone);
  } catch (error) {
    if (!isValidationError(error)) throw error;
    throw invalid('issue', 'to_phone', error.issues[0]?.message ?? 'does not fit');
  }
}

function invalid(operation: string, name: string, message: string): ValidationError {
  return new ValidationError(operation, [{ path: [name], message }]);
}
