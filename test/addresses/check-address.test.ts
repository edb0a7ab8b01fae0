import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  type AddressCheck,
  type AddressReason,
  addressForms,
  checkAddress,
} from '../../src/addresses/index.ts';
import { isConfigurationError } from '../../src/errors/errors.ts';
import { some } from '../support/repeat.ts';
import { growth, timeOf, wellBelowQuadratic } from '../support/timing.ts';
import {
  forms,
  inMixedCase,
  mixedCase,
  mobilecoinAddresses,
  oneCase,
  publicAddress,
  tether,
  tronContracts,
  tronText,
  wrapped,
} from './vectors.ts';

const valid = { verdict: 'valid' };
const [tronAddress = ''] = tronContracts;
const [evmAddress = ''] = mixedCase;
const [mobilecoinAddress = ''] = mobilecoinAddresses;
const evmAddresses = mixedCase.slice(0, 20);
const hexDigits = [...'0123456789abcdefABCDEF'];

function checked(address: string, chain: string): AddressCheck {
  return checkAddress(address, { chain });
}

describe('an address on usdt-trc20', () => {
  it.each(tronContracts)('is valid if its checksum fits: %s', (address) => {
    expect(checked(address, 'usdt-trc20')).toEqual(valid);
  });

  it.each<[string, string, AddressReason]>([
    ['the contract of USDT', tether, 'token_contract'],
    ['the zero address', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', 'zero_address'],
    ['a text whose checksum does not fit', 'TQ5NMqJjhpQGK7YJbESKfVXGnLkYbLZ1pA', 'checksum'],
    ['an address of Bitcoin, whose checksum fits', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', 'form'],
    ['an address in hexadecimal', `41${'ab'.repeat(20)}`, 'form'],
    ['an empty text', '', 'form'],
    ['a name', 'alice.trx', 'form'],
  ])('refuses %s', (_, address, reason) => {
    expect(checked(address, 'usdt-trc20')).toEqual({ verdict: 'refused', reason });
  });
});

describe('an address on usdc-matic', () => {
  it.each(mixedCase)('is valid if its case fits EIP-55: %s', (address) => {
    expect(checked(address, 'usdc-matic')).toEqual(valid);
  });

  it.each(oneCase)('is unchecked if it is in one case: %s', (address) => {
    expect(checked(address, 'usdc-matic')).toEqual({ verdict: 'unchecked', reason: 'no_checksum' });
  });

  it.each<[string, string, AddressReason]>([
    ['the contract of USDC', '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 'token_contract'],
    ['the contract of USDC.e, in any case', '0x2791bca1f2de4661ed88a30c99a7a9449aa84174', 'token_contract'],
    ['the zero address', `0x${'0'.repeat(40)}`, 'zero_address'],
    ['a mixed case that does not fit', evmAddress.replace('A', 'a'), 'checksum'],
    ['40 digits without 0x', evmAddress.slice(2), 'form'],
    ['0X', evmAddress.replace('0x', '0X'), 'form'],
    ['a name', 'vitalik.eth', 'form'],
  ])('refuses %s', (_, address, reason) => {
    expect(checked(address, 'usdc-matic')).toEqual({ verdict: 'refused', reason });
  });
});

describe('an address on eusd-mob', () => {
  it.each(mobilecoinAddresses)('is valid if its checksum fits: %s', (address) => {
    expect(checked(address, 'eusd-mob')).toEqual(valid);
  });

  it('is unchecked in a form that nobody knows, since the form is read off the name of the chain', () => {
    for (const address of ['alice', '', 'mob:abc', 'GAhhkk', wrapped(9, Buffer.alloc(80)), '1'.repeat(5000)])
      expect(checked(address, 'eusd-mob')).toEqual({ verdict: 'unchecked', reason: 'unknown_form' });
  });

  it('is refused as a payment request', () => {
    expect(checked(wrapped(2, Buffer.alloc(80, 1)), 'eusd-mob')).toEqual({
      verdict: 'refused',
      reason: 'form',
    });
  });

  it('is unchecked if what it wraps has no two keys', () => {
    expect(checked(wrapped(1, Buffer.alloc(80, 1)), 'eusd-mob').reason).toBe('unknown_form');
  });
});

describe('an address of another chain', () => {
  it.each([
    ['tron', tronAddress, ['usdc-matic', 'eusd-mob']],
    ['evm', evmAddress, ['usdt-trc20', 'eusd-mob']],
    ['evm', evmAddress.toLowerCase(), ['usdt-trc20', 'eusd-mob']],
    ['mobilecoin', mobilecoinAddress, ['usdt-trc20', 'usdc-matic']],
  ])('is refused, and named: %s', (form, address, chains) => {
    for (const chain of chains)
      expect(checked(address, chain)).toEqual({
        verdict: 'refused',
        reason: 'other_chain',
        looksLike: [form],
      });
  });
});

describe('a secret in place of an address', () => {
  const secrets = [
    ['64 hexadecimal digits', 'ab'.repeat(32)],
    ['64 hexadecimal digits with 0x', `0x${'AB'.repeat(32)}`],
    ['64 hexadecimal digits in two lines', `${'ab'.repeat(16)}\n${'cd'.repeat(16)}`],
    ['twelve words', 'legal winner thank year wave sausage worth useful legal winner thank yellow'],
    ['24 words with commas', Array(24).fill('abandon').join(', ')],
    ['a transfer payload of MobileCoin', wrapped(3, Buffer.alloc(70, 1))],
    ['a short transfer payload', wrapped(3, Buffer.alloc(34, 1))],
    ['a gift code of MobileCoin', wrapped(4, Buffer.alloc(70, 1))],
    ['a transfer payload with a blank', `${wrapped(3, Buffer.alloc(70, 1))} `],
  ] as const;

  it.each(secrets)('is refused as such on each known chain: %s', (_, secret) => {
    for (const chain of Object.keys(addressForms))
      expect(checked(secret, chain)).toEqual({ verdict: 'refused', reason: 'secret' });
  });

  it('is not looked for on other chains, where it can be an address', () => {
    for (const [, secret] of secrets) expect(checked(secret, 'near').verdict).toBe('unchecked');
  });
});

describe('white space in an address', () => {
  it.each([' ', '\t', '\n', '\u00a0', '\ufeff', '\u200b', '\u202a', '\u0000'])(
    'is refused, never removed: %j',
    (blank) => {
      for (const { chain, addresses } of forms) {
        const [address = ''] = addresses;
        for (const text of [blank + address, address + blank, address.slice(0, 9) + blank + address.slice(9)])
          expect(checked(text, chain)).toEqual({ verdict: 'refused', reason: 'white_space' });
      }
    },
  );
});

describe('a chain without a known form', () => {
  it('has every address unchecked, and none refused', () => {
    for (const chain of ['btc', 'usdt-pol', 'USDT-TRC20', 'toString', '__proto__'])
      expect(checked('anything at all', chain)).toEqual({ verdict: 'unchecked', reason: 'unknown_chain' });
  });

  it('gets one by `forms`, which changes known chains too', () => {
    const own = { 'usdt-pol': 'evm', 'usdt-trc20': 'mobilecoin' } as const;
    expect(checkAddress(evmAddress, { chain: 'usdt-pol', forms: own })).toEqual(valid);
    expect(checkAddress(mobilecoinAddress, { chain: 'usdt-trc20', forms: own })).toEqual(valid);
    expect(checkAddress(mobilecoinAddress, { chain: 'eusd-mob', forms: own })).toEqual(valid);
  });
});

describe('contracts', () => {
  it('are refused as well, in any spelling', () => {
    const refused = { verdict: 'refused', reason: 'token_contract' };
    const contracts = [evmAddress.toLowerCase(), tronAddress, 'own'];
    expect(checkAddress(evmAddress, { chain: 'usdc-matic', contracts })).toEqual(refused);
    expect(checkAddress(tronAddress, { chain: 'usdt-trc20', contracts })).toEqual(refused);
    expect(checkAddress('own', { chain: 'other', contracts })).toEqual(refused);
  });
});

describe('options of checkAddress', () => {
  it.each([
    [{}],
    [{ chain: '' }],
    [{ chain: 'a', forms: { a: 'bitcoin' } }],
    [{ chain: 'a', contracts: 'x' }],
    [{ chain: 'a', network: 'b' }],
  ])('are refused: %j', (options) => {
    // @ts-expect-error: the options are wrong on purpose
    expect(() => checkAddress('x', options)).toThrow(expect.toSatisfy(isConfigurationError));
  });

  it('include an address that is text', () => {
    // @ts-expect-error: the address is wrong on purpose
    expect(() => checkAddress(7, { chain: 'a' })).toThrow('The address must be a text.');
  });

  it('are typed, and so are the reasons', () => {
    expectTypeOf(checked).returns.toEqualTypeOf<AddressCheck>();
    expectTypeOf<AddressCheck['reason']>().toEqualTypeOf<AddressReason | undefined>();
  });
});

describe('a typing error', () => {
  it.each(forms.filter(({ form }) => form !== 'evm'))(
    'in one character is always refused: $form',
    ({ chain, addresses, alphabet }) => {
      expect(addresses).toHaveLength(20);
      const typos = addresses.flatMap((address) => substitutions(address, alphabet));
      expect(some(typos, 20_000).filter(passes(chain))).toEqual([]);
    },
    120_000,
  );

  it('in one character of 20 mixed-case EVM addresses is refused', () => {
    const typos = evmAddresses.flatMap((address) =>
      substitutions(address.slice(2), hexDigits).map((typo) => `0x${typo}`),
    );
    expect(typos).toHaveLength(20 * 40 * 21);
    expect(typos.filter(passes('usdc-matic'))).toEqual([]);
  });

  it('in one digit of any mixed-case EVM address passes 2 to 3 times in 10,000, as EIP-55 says', () => {
    const count = 60_000;
    let passed = 0;
    for (let number = 0; number < count; number++) {
      const drawn = hash('sha256', `an address and its typing error, ${number}`, 'buffer');
      const written = inMixedCase(drawn.toString('hex', 0, 20));
      const at = drawn.readUInt8(20) % 40;
      const others = hexDigits.filter((digit) => digit.toLowerCase() !== written[at]?.toLowerCase());
      const other = others[drawn.readUInt8(21) % others.length];
      const typo = `0x${written.slice(0, at)}${other}${written.slice(at + 1)}`;
      if (checked(typo, 'usdc-matic').verdict === 'valid') passed++;
    }
    // EIP-55: 0.0247 %.
    expect(passed / count).toBeGreaterThan(0.0001);
    expect(passed / count).toBeLessThan(0.0005);
  });

  it('in the case of one letter of an EVM address is always refused', () => {
    const typos = evmAddresses.flatMap((address) =>
      [...address.slice(2)].flatMap((digit, at) => {
        const other = digit === digit.toUpperCase() ? digit.toLowerCase() : digit.toUpperCase();
        return other === digit ? [] : [`${address.slice(0, at + 2)}${other}${address.slice(at + 3)}`];
      }),
    );
    expect(typos.length).toBeGreaterThan(200);
    expect(typos.filter(passes('usdc-matic'))).toEqual([]);
  });

  it.each(forms)('that swaps two neighbours is always refused: $form', ({ chain, addresses }) => {
    const passed = addresses.flatMap((address) => swaps(address).filter(passes(chain)));
    expect(passed).toEqual([]);
  });

  it('in an EVM address in one case shows nowhere: it stays unchecked', () => {
    const [address = ''] = oneCase.slice(-1);
    expect(checked(address.replace('2', '3'), 'usdc-matic').verdict).toBe('unchecked');
  });

  it('that loses or doubles a character is always refused', () => {
    for (const { chain, addresses } of forms) {
      for (const address of addresses) {
        for (let at = 0; at < address.length; at++) {
          for (const text of [
            address.slice(0, at) + address.slice(at + 1),
            address.slice(0, at + 1) + address.slice(at),
          ])
            if (text !== address) expect([text, checked(text, chain).verdict]).toEqual([text, 'refused']);
        }
      }
    }
  });
});

describe('a long text', () => {
  it.each([
    ['of base58', 'Tz'],
    ['of ones', '1'],
    ['of words', 'legal '],
    ['of words and blanks', `legal${' '.repeat(30)}`],
    ['of blanks', ' '],
    ['of hexadecimal digits', 'ab'],
  ])('takes linear time: %s', (_, part) => {
    const act = (text: string) => Object.keys(addressForms).map((chain) => checked(text, chain));
    const makeText = (size: number) => part.repeat(size / part.length);
    expect(growth(makeText, act)).toBeLessThan(wellBelowQuadratic);
  });
});

describe('the text that takes longest', () => {
  it.each(Object.keys(addressForms))('costs at most what some 200 addresses cost: %s', (chain) => {
    // A longer one is not decoded.
    const dearest = 'z'.repeat(4096);
    const timeOfChecks = (text: string, count: number) =>
      Math.min(
        ...Array.from({ length: 5 }, () =>
          timeOf(() => {
            for (let made = 0; made < count; made++) checked(text, chain);
          }),
        ),
      );
    // As much as 30 to 60 is the rule; decoded digit by digit it would be as much as 3,000.
    expect(timeOfChecks(dearest, 40)).toBeLessThan(timeOfChecks(mobilecoinAddress, 40 * 200));
    expect(timeOfChecks(`${dearest}z`, 1_000)).toBeLessThan(timeOfChecks(mobilecoinAddress, 2_000));
  });
});

describe('any text', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 10_000, size: 'max' }),
    fc.string({ unit: fc.constantFrom(...'123456789ABCabc'), maxLength: 10_000, size: 'max' }),
    fc.string({ unit: fc.constantFrom(...'0x123abc \n'), maxLength: 200 }),
    fc.uint8Array({ maxLength: 120 }).map((bytes) => wrapped(1, bytes)),
  );

  it('has a verdict on every chain, and throws nothing', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom(...Object.keys(addressForms), 'other'), (text, chain) => {
        expect(['valid', 'unchecked', 'refused']).toContain(checked(text, chain).verdict);
      }),
    );
  });

  it('that is an address of its chain is never refused', () => {
    const tronBytes = fc.uint8Array({ minLength: 20, maxLength: 20 }).filter((bytes) => bytes.some(Boolean));
    fc.assert(
      fc.property(
        tronBytes,
        fc.uint8Array({ minLength: 64, maxLength: 64 }),
        fc.string(),
        (account, keys, url) => {
          expect(checked(tronText(account), 'usdt-trc20')).toEqual(valid);
          expect(checked(`0x${Buffer.from(account).toString('hex')}`, 'usdc-matic').verdict).toBe(
            'unchecked',
          );
          expect(checked(wrapped(1, publicAddress(keys, url)), 'eusd-mob')).toEqual(valid);
        },
      ),
    );
  });
});

function substitutions(address: string, alphabet: readonly string[]): string[] {
  return [...address].flatMap((written, at) =>
    alphabet
      .filter((character) => character !== written)
      .map((character) => address.slice(0, at) + character + address.slice(at + 1)),
  );
}

function swaps(address: string): string[] {
  return [...address.slice(1)]
    .map((next, at) => address.slice(0, at) + next + address[at] + address.slice(at + 2))
    .filter((swapped) => swapped !== address);
}

function passes(chain: string): (text: string) => boolean {
  return (text) => checked(text, chain).verdict !== 'refused';
}
