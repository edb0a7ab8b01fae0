import { BlockList } from 'node:net';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ipNetwork } from '../../src/otp/otp-input.ts';

describe('the network of an address', () => {
  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['255.255.255.255', '255.255.255.255'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['::FFFF:c633:6407', '198.51.100.7'],
    ['0:0:0:0:0:ffff:198.51.100.7', '198.51.100.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
  ])('%s is %s', (ip, network) => {
    expect(ipNetwork(ip)).toBe(network);
  });

  it.each([
    ...[
      '',
      ' ',
      'localhost',
      '1.2.3',
      '1.2.3.4.5',
      '1.2.3.256',
      '01.2.3.4',
      '1.2.3.4:80',
      '1.2.3.4, 5.6.7.8',
    ],
    ...['[::1]', ':::', '1::2::3', '12345::', '2001:db8::1/64', '::ffff:1.2.3.256', '1:2:3:4:5:6:7', 'g::1'],
    ...['1.2.3.', '0x7f.1.1.1', '2130706433', '::1]@evil', 'unknown', '::1\n'],
  ])('%j is no address', (ip) => {
    expect(ipNetwork(ip)).toBeUndefined();
  });

  it('of IPv6 is the /64 that Node finds it in, however it is written', () => {
    fc.assert(
      fc.property(fc.ipV6(), (ip) => {
        const network = ipNetwork(ip);
        if (network === undefined || !network.endsWith('::/64')) return /^::ffff:/i.test(ip);
        const list = new BlockList();
        list.addSubnet(network.slice(0, -'/64'.length), 64, 'ipv6');
        return list.check(ip, 'ipv6');
      }),
    );
  });
});
