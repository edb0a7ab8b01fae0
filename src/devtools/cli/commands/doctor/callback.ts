import { BlockList, isIP } from 'node:net';
import { bareHost, isLoopbackHost } from '../../../../deployment/base-url.ts';
import {
  broken,
  ok,
  type Result,
  type Surroundings,
  skippedCheck,
  weak,
  withoutAnswer,
} from './surroundings.ts';

/** Whether the service can reach the callback, and whether a receiver is there. `attack` judges the receiver. */
export async function examineCallback(url: URL | undefined, surroundings: Surroundings): Promise<Result[]> {
  if (url === undefined) return [skippedCheck('Name it with --callback.')];
  const results = [await examineAddress(url, surroundings), await examineReceiver(url, surroundings)];
  const problems = results.filter(({ verdict }) => verdict !== 'ok');
  return problems.length > 0 ? problems : [ok(results.map(({ what }) => what).join(' '))];
}

/** Whether the name and the addresses are public, without asking anybody outside. */
async function examineAddress(url: URL, surroundings: Surroundings): Promise<Result> {
  const notPublic = problemOfName(url);
  if (notPublic !== undefined) return broken(notPublic, expose);
  const host = bareHost(url);
  const addresses = isIP(host) === 0 ? await surroundings.addressesOf(host) : [host];
  if ('failure' in addresses) {
    const what = `${host} does not resolve (${addresses.failure}).`;
    return broken(what, 'Is the name right? Set its record in the DNS, or wait until it is known.');
  }
  const blocked = specialAddresses();
  const inside = addresses.filter((address) => blocked.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'));
  if (inside.length > 0)
    return broken(`${host} resolves to ${inside.join(', ')}, which nobody outside can reach.`, expose);
  if (url.protocol === 'https:')
    return ok(
      `${host} is public (${addresses.join(', ')}). Whether a firewall is in the way only a request from outside can tell.`,
    );
  const what = `${host} is public, but http: the events hold personal data and can be read on the way.`;
  return weak(what, 'Use https.');
}

const expose =
  'The service needs a public address: deploy the receiver, or put a tunnel in front of it for development.';

/** Posts one body that is not signed, which every receiver refuses. */
async function examineReceiver(url: URL, surroundings: Surroundings): Promise<Result> {
  const answer = await surroundings.ask(url.href, 'POST', '{}');
  if (answer.kind !== 'answered') return withoutAnswer(answer, url.host);
  const { status } = answer;
  const what = `A body without a signature is answered with ${status}.`;
  if (status === 404 || status === 405)
    return broken(what, 'Is this the path at which the receiver is mounted?');
  if (status >= 500) return weak(what, 'Look at the log of the receiver: it must answer 400 or 401.');
  if (status < 400) return broken(what, 'A receiver must refuse it: judge it with partner-exchange attack.');
  return ok(what);
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
function specialAddresses(): BlockList {
  const list = new BlockList();
  for (const subnet of [
    ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
    ...['192.0.0.0/24', '192.0.2.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
    ...['203.0.113.0/24', '224.0.0.0/3'],
    ...['::/127', '64:ff9b:1::/48', '100::/64', '2001:db8::/32', 'fc00::/7', 'fe80::/10', 'ff00::/8'],
  ]) {
    const [address = '', bits] = subnet.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}
