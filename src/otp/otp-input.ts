import { isIPv4, isIPv6 } from 'node:net';
import { ValidationError } from '../errors/errors.ts';
import { defineOptions, type OptionTable, optional } from '../internal/options.ts';
import { normalizePhone } from './phone.ts';

/** Whom to send a code, and for what. */
export interface IssueRequest {
  /** The phone number with its country code, in any notation: `+234 801 234 5678`; or `0801 234 5678` with the option `country`. */
  readonly to_phone: string;
  /** The purpose of the code: `sign-in`, `withdraw`. A code for one purpose is never accepted for another. */
  readonly purpose: string;
  /** Whose code it is, or what it confirms: the id of a user, a session, a payment. `check` then needs it too. */
  readonly subject?: string | undefined;
  /** The address that asks for it, as your server sees it: `resend` counts for it too. Behind a proxy, take care that it cannot be forged. */
  readonly ip?: string | undefined;
}

/** Options of `check`. */
export interface CheckOptions {
  /** As given to `issue`. */
  readonly purpose: string;
  /** As given to `issue`. */
  readonly subject?: string | undefined;
}

const readIssue = defineOptions('issue', {
  // Sound: `normalizePhone` checks it.
  to_phone: (phone) => phone as string,
  ...useRows('issue'),
  ip: optional((ip): string => {
    const network = typeof ip === 'string' ? ipNetwork(ip) : undefined;
    if (network !== undefined) return network;
    throw invalid('issue', 'ip', 'must be an IPv4 or IPv6 address, without a port');
  }),
} satisfies OptionTable<IssueRequest>);

const readCheck = defineOptions('check', useRows('check') satisfies OptionTable<CheckOptions>);

/** @throws {ValidationError} {@link ConfigurationError} for an unknown member */
export function checkIssue(request: IssueRequest, country: string | undefined) {
  const { to_phone, purpose, subject, ip } = readIssue(request);
  return { to_phone: normalizePhone(to_phone, { country }), purpose, subject, network: ip };
}

/** @throws {ValidationError} {@link ConfigurationError} for an unknown option */
export function checkUse(code: string, options: CheckOptions) {
  if (typeof code !== 'string') throw invalid('check', 'code', 'must be text: a number has no leading zeros');
  return readCheck(options);
}

/** @throws {ValidationError} */
export function checkId(operation: string, id: string): string {
  if (typeof id !== 'string') throw invalid(operation, 'id', 'must be text');
  // Our ids are shorter, so a longer text need not be hashed whole.
  return id.slice(0, 64);
}

function useRows(operation: string) {
  return {
    purpose: textOf(operation, 64),
    subject: optional(textOf(operation, 256)),
  };
}

function textOf(operation: string, most: number): (text: unknown, name: string) => string {
  return (text, name) => {
    const isSound =
      typeof text === 'string' && text.length >= 1 && text.length <= most && text.isWellFormed();
    if (isSound) return text;
    throw invalid(operation, name, `must be text of 1 to ${most} characters`);
  };
}

function invalid(operation: string, name: string, message: string): ValidationError {
  return new ValidationError(operation, [{ path: [name], message }]);
}

/** An IPv4 address, also written as IPv6, or the /64 of an IPv6 address, which is one subscriber's (RFC 6177). */
export function ipNetwork(ip: string): string | undefined {
  if (isIPv4(ip)) return ip;
  // A zone is only a name on the machine itself: `fe80::1%eth0`.
  const [address = ''] = ip.split('%');
  if (!isIPv6(address)) return undefined;
  // The parser of URLs writes every spelling in one way: without leading zeros, dots or upper case.
  const { hostname } = new URL(`http://[${address}]`);
  const [left = [], right = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  const groups = [...left, ...zeros, ...right];
  if (groups.slice(0, 6).join() !== '0,0,0,0,0,ffff') return `${groups.slice(0, 4).join(':')}::/64`;
  return groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((pair) => [pair >> 8, pair & 255])
    .join('.');
}
