/**
 * What counts as one address: an IPv4 address, or the /64 network of an IPv6 address, since a single subscriber has the
 * whole network to choose from (RFC 6177). IPv4 that is written as IPv6, as dual-stack sockets do, counts as IPv4.
 *
 * @returns `undefined` if it is no address
 */
export function ipNetwork(ip: string): string | undefined {
  if (ip.length > 64) return undefined;
  if (isIpv4(ip)) return ip;
  const groups = readIpv6(ip);
  if (groups === undefined) return undefined;
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (isMapped) return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

function isIpv4(ip: string): boolean {
  return /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(ip);
}

/** The eight groups. The parser of URLs knows every way to write them. */
function readIpv6(ip: string): number[] | undefined {
  // A zone is only a name on the machine itself: `fe80::1%eth0`.
  const [address = ''] = ip.split('%');
  if (!/^[\da-f:.]+$/i.test(address) || !address.includes(':')) return undefined;
  const url = URL.canParse(`http://[${address}]`) ? new URL(`http://[${address}]`) : undefined;
  if (url === undefined) return undefined;
  const [left = '', right] = url.hostname.slice(1, -1).split('::');
  const groupsOf = (text: string) =>
    text
      .split(':')
      .filter((group) => group !== '')
      .map((group) => Number.parseInt(group, 16));
  const [before, after] = [groupsOf(left), groupsOf(right ?? '')];
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
}
