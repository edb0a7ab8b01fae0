import { expect, it } from 'vitest';
import { partnerExchange } from './run-in-process.ts';

const check = (address: string, chain: string, ...more: string[]) =>
  partnerExchange(['address', 'check', address, '--chain', chain, ...more]);

it('says that an address is valid', async () => {
  const { code, stdout } = await check('TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP', 'usdt-trc20');
  expect([code, stdout]).toEqual([0, 'valid\n']);
});

it('says why an address is refused, and exits with 1', async () => {
  const { code, stdout } = await check('TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LQ', 'usdt-trc20');
  expect([code, stdout]).toEqual([
    1,
    'refused (checksum): it has a typing error: its checksum does not fit\n',
  ]);
});

it('says why an address is not checked, and exits with 0', async () => {
  const { code, stdout } = await check('anything', 'btc');
  expect([code, stdout]).toEqual([
    0,
    'unchecked (unknown_chain): it is on a chain whose addresses have no known form\n',
  ]);
});

it('prints JSON, with the form that it fits instead', async () => {
  const address = '0xb7C978B070509bFEefa71fC3C984775072F837DF';
  const { code, stdout } = await check(address, 'usdt-trc20', '--format', 'json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ verdict: 'refused', reason: 'other_chain', looksLike: ['evm'] });
});

it('never prints what was given: it may be a secret', async () => {
  const secret = 'ab'.repeat(32);
  for (const format of ['text', 'json', 'github']) {
    const { code, stdout, stderr } = await check(secret, 'usdt-trc20', '--format', format);
    expect([format, code === 0, (stdout + stderr).includes(secret)]).toEqual([format, false, false]);
  }
});
