import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressForms } from '../../../src/deployment/addresses/address-forms.ts';
import type { AddressReason } from '../../../src/deployment/addresses/address-reasons.ts';
import { type AddressCheck, checkAddress } from '../../../src/deployment/addresses/check-address.ts';
import { isConfigurationError } from '../../../src/errors/errors.ts';
import { codePoint } from '../../support/any-text.ts';
import { some, times } from '../../support/repeat.ts';
import { growth, wellBelowQuadratic } from '../../support/timing.ts';
import {
  forms,
  inMixedCase,
  mixedCase,
  mobilecoinAddresses,
  oneCase,
  polygonTokens,
  publicAddress,
  tronContracts,
  tronText,
  tronTokens,
  wrapped,
} from './vectors.ts';

const valid = { verdict: 'valid' };
const [tronAddress = ''] = tronContracts;
const [evmAddress = ''] = mixedCase;
const [mobilecoinAddress = ''] = mobilecoinAddresses;
const evmAddresses = mixedCase.slice(0, 20);

function checked(address: string, chain: string): AddressCheck {
  return checkAddress(address, { chain });
}

describe('an address on usdt-trc20', () => {
  it.each(tronContracts)('is valid if its checksum fits: %s', (address) => {
    expect(checked(address, 'usdt-trc20')).toEqual(valid);
  });

  it.each<[string, string, AddressReason]>([
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
  const key = 'ab'.repeat(32);
  const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow'.split(' ');
  const spanish = 'ábaco abdomen abeja abierto abogado abono aborto abrazo abrir abuelo abuso acabar'.split(
    ' ',
  );
  const payload = wrapped(3, Buffer.alloc(70, 1));

  it.each([
    ['64 hexadecimal digits', key],
    ['64 hexadecimal digits with 0x', `0x${key.toUpperCase()}`],
    ['64 hexadecimal digits in two lines', `${key.slice(0, 32)}\n${key.slice(32)}`],
    ['64 hexadecimal digits in groups', (key.match(/.{8}/g) ?? []).join('-')],
    ['a key in quotes', `"${key}"`],
    ['a key in JSON', JSON.stringify({ address: tronAddress, key })],
    ['twelve words', words.join(' ')],
    ['numbered words', words.map((word, at) => `${at + 1}. ${word}`).join('\n')],
    ['words with their numbers glued on', words.map((word, at) => `${at + 1}${word}`).join(' ')],
    ['words with underscores', words.join('_')],
    ['words behind a label', `Seed phrase: ${words.join(' ')}`],
    ['words in capitals, with invisible characters', words.join('\u200b').toUpperCase()],
    ['Spanish words', spanish.join(' ')],
    ['Spanish words, decomposed', spanish.join(' ').normalize('NFD')],
    ['Japanese words', Array(12).fill('あいこくしん').join('\u3000')],
    ['Chinese words', Array(12).fill('的').join(' ')],
    ['Chinese words without blanks', '的一是在不了有和人这中大'],
    ['a transfer payload of MobileCoin', payload],
    ['a gift code of MobileCoin', wrapped(4, Buffer.alloc(70, 1))],
    ['a transfer payload with a blank', `${payload} `],
    ['a transfer payload in quotes', `"${payload}"`],
    // The example of en.bitcoin.it/wiki/Wallet_import_format, and test vector 1 of BIP-32 (chain m).
    ['a wallet import format', '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ'],
    [
      'a private extended key',
      'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi',
    ],
  ])('is refused as such on every chain: %s', (_, secret) => {
    for (const chain of [...Object.keys(addressForms), 'usdt-erc20', 'usdt-matic', 'near', 'b'])
      expect([chain, checked(secret, chain)]).toEqual([chain, { verdict: 'refused', reason: 'secret' }]);
  });

  it.each([
    ['eleven words', words.slice(1).join(' ')],
    [
      'a public extended key',
      'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8',
    ],
    ['63 hexadecimal digits', 'ab'.repeat(32).slice(1)],
    ['an address of Bitcoin', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2'],
    ['an address of Cardano', `addr1${'qpzry9x8gf2tvdw0s3jn54khce6mua7l'.repeat(3)}`],
    ['an address of TON', 'UQAGN7cwTjQ4jK2WnDVRJgq9kZ0p4mSxVbYdE3hLt8uRcF6A'],
    [
      'a payment address with a memo',
      'cosmos1fl48vsnmsdzcv85q5d2q4z5ajdha8yu34mf0eh?memo=order of a buyer, number 7',
    ],
  ])('is not seen in %s', (_, text) => {
    expect(checked(text, 'other').reason).toBe('unknown_chain');
  });

  it('is seen in no address, whatever its form', () => {
    const hexadecimal = [...'0123456789abcdef'];
    const base58 = [...forms[0].alphabet];
    const bech32 = [...'023456789acdefghjklmnpqrstuvwxyz'];
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
    const of = (alphabet: string[], minLength: number, maxLength: number) =>
      fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength });
    const addresses = fc.oneof(
      bytes(20).map(tronText),
      of(hexadecimal, 40, 40).map((digits) => `0x${digits}`),
      of(hexadecimal, 40, 40).map((digits) => `0x${inMixedCase(digits)}`),
      fc
        .tuple(bytes(64), fc.webUrl())
        .map(([keys, url]) => wrapped(1, publicAddress(keys, url.replace('http', 'fog')))),
      of(base58, 25, 110),
      of(bech32, 38, 110).map((digits) => `addr1${digits}`),
    );
    fc.assert(
      fc.property(addresses, (address) => {
        expect(checked(address, 'other').reason).toBe('unknown_chain');
      }),
      { numRuns: times(500, 5_000) },
    );
  });
});

describe('white space in an address', () => {
  const blanks = [' ', '\t', '\n', '\u00a0', '\ufeff', '\u200b', '\u202a', '\u0000'];

  it.each(blanks)('is refused, never removed: %j', (blank) => {
    for (const { chain, addresses } of forms) {
      const [address = ''] = addresses;
      for (const text of [blank + address, address + blank, address.slice(0, 9) + blank + address.slice(9)])
        expect(checked(text, chain)).toEqual({ verdict: 'refused', reason: 'white_space' });
    }
  });
});

describe('the network of a chain', () => {
  const refused = (form: string) => ({ verdict: 'refused', reason: 'other_chain', looksLike: [form] });

  it.each([
    'usdt-trc20',
    'usdc-trc20',
    'USDT-TRC20',
    'usdttrc20',
    'usdt trc20',
    'TRC-20',
    'USDT (TRC20)',
    'usdt.e-trc20',
  ])('decides the form, in any spelling: %j', (chain) => {
    expect(checked(evmAddress, chain)).toEqual(refused('evm'));
    expect(checked(tronAddress, chain)).toEqual(valid);
  });

  it.each(['usdt-matic', 'eusd-MATIC', 'matic'])('decides the form on EVM chains: %j', (chain) => {
    expect(checked(tronAddress, chain)).toEqual(refused('tron'));
  });

  it('is all that follows the token', () => {
    for (const chain of [
      'usdc-erc-20',
      'trc20-usdt',
      'usdt-nomatic',
      'usdt-trc2',
      'mobmatics',
      '-',
      '',
      '__proto__',
    ])
      expect(checked(evmAddress, chain || ' ')).toEqual({ verdict: 'unchecked', reason: 'unknown_chain' });
  });

  it('is added by `forms`, where a chain itself comes before its network, and the own ones before the assumed', () => {
    const own = { 'usdt-pol': 'evm', USDT_TRC20: 'mobilecoin', 'usdd-trc20': 'evm' } as const;
    expect(checkAddress(tronAddress, { chain: 'USDC-POL', forms: own })).toEqual(refused('tron'));
    expect(checkAddress(mobilecoinAddress, { chain: 'usdt-trc20', forms: own })).toEqual(valid);
    expect(checkAddress(evmAddress, { chain: 'usdd-trc20', forms: own })).toEqual(valid);
    expect(checkAddress(evmAddress, { chain: 'usdx-trc20', forms: own })).toEqual(valid);
  });
});

describe('an address of MobileCoin with errors', () => {
  const [withFog = ''] = mobilecoinAddresses.slice(-1);
  const refused = { verdict: 'refused', reason: 'checksum' };

  it('is refused where it is cut, down to 80 characters', () => {
    for (let length = 80; length < mobilecoinAddress.length; length++)
      expect(checked(mobilecoinAddress.slice(0, length), 'eusd-mob')).toEqual(refused);
    expect(checked(withFog.slice(0, 200), 'eusd-mob')).toEqual(refused);
    expect(checked(mobilecoinAddress.slice(0, 79), 'eusd-mob').reason).toBe('unknown_form');
  });

  it('is refused with four errors, and unchecked in another alphabet', () => {
    expect(checked(`0OIl${mobilecoinAddress.slice(4)}`, 'eusd-mob')).toEqual(refused);
    expect(checked(`${'0OIl'.repeat(5)}${mobilecoinAddress.slice(20)}`, 'eusd-mob').reason).toBe(
      'unknown_form',
    );
  });
});

describe('contracts', () => {
  const tokenContract = { verdict: 'refused', reason: 'token_contract' };

  it.each(tronTokens)('of the best-known tokens on TRON are refused: %s', (contract) => {
    for (const chain of ['usdt-trc20', 'usdc-trc20']) expect(checked(contract, chain)).toEqual(tokenContract);
  });

  it.each([...polygonTokens, '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'])(
    'of the best-known tokens on Polygon are refused, in any case: %s',
    (contract) => {
      for (const spelling of [contract, contract.toLowerCase()])
        expect(checked(spelling, 'usdc-matic')).toEqual(tokenContract);
    },
  );

  it('are refused as well, in any spelling', () => {
    const contracts = [evmAddress.toLowerCase(), tronAddress, 'own'];
    expect(checkAddress(evmAddress, { chain: 'usdc-matic', contracts })).toEqual(tokenContract);
    expect(checkAddress(tronAddress, { chain: 'usdt-trc20', contracts })).toEqual(tokenContract);
    expect(checkAddress('own', { chain: 'other', contracts })).toEqual(tokenContract);
  });
});

it.each([
  [{}],
  [{ chain: 'a', forms: { a: 'bitcoin' } }],
  [{ chain: 'a', contracts: 'x' }],
  [{ chain: 'a', network: 'b' }],
])('options of checkAddress are refused: %j', (options) => {
  // @ts-expect-error: the options are wrong on purpose
  expect(() => checkAddress('x', options)).toThrow(expect.toSatisfy(isConfigurationError));
  // @ts-expect-error: the address is wrong on purpose
  expect(() => checkAddress(7, { chain: 'a' })).toThrow('The address must be a text.');
});

describe('a typing error', () => {
  it.each(forms.filter(({ form }) => form !== 'evm'))(
    'in one character is always refused: $form',
    ({ chain, addresses, alphabet }) => {
      expect(addresses).toHaveLength(20);
      const typos = addresses.flatMap((address) => substitutions(address, alphabet));
      expect(some(typos, 4_000).filter(passes(chain))).toEqual([]);
    },
    120_000,
  );

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
    const passed = some(addresses, 5).flatMap((address) => swaps(address).filter(passes(chain)));
    expect(passed).toEqual([]);
  });

  it('in an EVM address in one case shows nowhere: it stays unchecked', () => {
    const [address = ''] = oneCase.slice(-1);
    expect(checked(address.replace('2', '3'), 'usdc-matic').verdict).toBe('unchecked');
  });
});

describe('a long text', () => {
  it.each([
    ['of base58', 'Tz'],
    ['of words', 'legal '],
    ['of words and blanks', `legal${' '.repeat(30)}`],
  ])('takes linear time: %s', (_, part) => {
    const act = (text: string) => Object.keys(addressForms).map((chain) => checked(text, chain));
    const makeText = (size: number) => part.repeat(size / part.length);
    expect(growth(makeText, act)).toBeLessThan(wellBelowQuadratic);
  });
});

describe('any text', () => {
  const texts = fc.oneof(
    fc.string({ unit: codePoint, maxLength: 10_000, size: 'max' }),
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
