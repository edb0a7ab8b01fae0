/**
 * - `valid`: the address has the form of its chain, and its checksum fits.
 * - `unchecked`: nothing speaks against it, and nothing proves its spelling.
 * - `refused`: crypto that is sent there is lost, or goes to somebody else.
 */
export type AddressVerdict = 'valid' | 'unchecked' | 'refused';

/** The verdict of each reason, and the reason in words: a clause about the address, which it never repeats. */
export const addressReasons = {
  checksum: { verdict: 'refused', words: 'has a typing error: its checksum does not fit' },
  form: { verdict: 'refused', words: 'does not have the form of an address of this chain' },
  other_chain: { verdict: 'refused', words: 'is an address of another chain' },
  token_contract: {
    verdict: 'refused',
    words: 'is the contract of a token: crypto that is sent there is lost',
  },
  zero_address: { verdict: 'refused', words: 'is the zero address: crypto that is sent there is lost' },
  example: {
    verdict: 'refused',
    words: 'is an example address of this package: nobody holds it, and the base URL is not this machine',
  },
  secret: {
    verdict: 'refused',
    words:
      'looks like a private key, a mnemonic or a payload with a key: whoever has seen it can take the crypto',
  },
  white_space: { verdict: 'refused', words: 'holds white space or invisible characters' },
  no_checksum: { verdict: 'unchecked', words: 'is in one case, and so carries no checksum' },
  unknown_chain: { verdict: 'unchecked', words: 'is on a chain whose addresses have no known form' },
  unknown_form: {
    verdict: 'unchecked',
    words: 'does not have the form that is assumed for its chain, and no other known form',
  },
} as const satisfies Readonly<Record<string, { verdict: AddressVerdict; words: string }>>;

/** Why an address is refused, or not checked. @useDeclaredType */
export type AddressReason = keyof typeof addressReasons;
