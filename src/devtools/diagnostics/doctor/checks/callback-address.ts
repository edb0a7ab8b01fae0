import type { BlockList } from 'node:net';
import { bareHost, isLoopbackHost } from '../../../../deployment/base-url.ts';
import { type CheckResult, skipped } from '../../check-result.ts';
import { type Check, fail, ok, unreachable } from '../check.ts';
import type { DoctorContext } from '../doctor-context.ts';

/** Whether the service can reach the callback, without asking anybody outside. */
export const callbackAddress: Check = {
  id: 'callback-address',
  async run(context) {
    const { callbackUrl: url } = context;
    if (url === undefined) return skipped('callbackUrl is not given.');
    const notPublic = problemOfName(url);
    if (notPublic !== undefined) return fail(notPublic, expose);
    const host = bareHost(url);
    const net = process.getBuiltinModule?.('node:net');
    if (net === undefined) return skipped('This runtime has no node:net, which tells public addresses.');
    const addresses = net.isIP(host) === 0 ? await context.addressesOf(host) : [host];
    if ('failure' in addresses) {
      const found = `${host} does not resolve (${addresses.failure}).`;
      return unreachable(context, found, 'Set its record in the DNS, or wait until it is known.');
    }
    const blocked = specialAddresses(new net.BlockList());
    const inside = addresses.filter((address) =>
      blocked.check(address, net.isIP(address) === 6 ? 'ipv6' : 'ipv4'),
    );
    if (inside.length > 0) {
      return fail(`${host} resolves to ${inside.join(', ')}, which nobody outside can reach.`, expose);
    }
    return judgeProtocol(url, addresses, context);
  },
};

const expose =
  'The service needs a public address: deploy the receiver, or put a tunnel in front of it for development.';

function judgeProtocol(url: URL, addresses: readonly string[], { strict }: DoctorContext): CheckResult {
  if (url.protocol === 'http:') {
    return {
      verdict: strict ? 'broken' : 'weak',
      answered: `${url.hostname} is public, but http: the events hold personal data and can be read on the way.`,
      advice: 'Use https.',
    };
  }
  return ok(
    `${url.hostname} is public (${addresses.join(', ')}). Whether a firewall is in the way only a request from outside can tell.`,
  );
}

/** Reserved names (RFC 6761, 6762, 8375), and names without a dot, are not public. */
function problemOfName({ hostname }: URL): string | undefined {
  if (isLoopbackHost(hostname)) return `${hostname} is this machine, for everybody who asks.`;
  if (hostname.startsWith('[')) return undefined;
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  const isInside =
    /(?:^|\.)(?:local|localhost|lan|internal|intranet|corp|home|home\.arpa|test|invalid|onion)$/i;
  if (!name.includes('.') || isInside.test(name)) return `${hostname} is a name that is known only inside.`;
  return undefined;
}

/** Addresses that are not routed on the internet (IANA's special-purpose address registries). */
function specialAddresses(list: BlockList): BlockList {
  for (const [address, bits] of [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 3],
  ] as const) {
    list.addSubnet(address, bits, 'ipv4');
  }
  for (const [address, bits] of [
    ['::', 127],
    ['64:ff9b:1::', 48],
    ['100::', 64],
    ['2001:db8::', 32],
    ['fc00::', 7],
    ['fe80::', 10],
    ['ff00::', 8],
  ] as const) {
    list.addSubnet(address, bits, 'ipv6');
  }
  return list;
}
