import { checkOneOf, invalidOption } from '../../internal/options.ts';

/**
 * A form of addresses with a checksum.
 *
 * - `tron`: base58 of 25 bytes, of which the last four are a checksum.
 * - `evm`: `0x` and 40 hexadecimal digits, whose case is a checksum (EIP-55).
 * - `mobilecoin`: base58 of a public address, with its CRC-32.
 */
export type AddressForm = 'tron' | 'evm' | 'mobilecoin';

export const formNames: readonly AddressForm[] = ['tron', 'evm', 'mobilecoin'];

/** The form of each chain's addresses. It holds for the network in every spelling: `usdt-trc20`, `USDC_TRC20`. */
export type AddressForms = Readonly<Record<string, AddressForm>>;

/**
 * The forms that are assumed for the chains of the contract (ledger: `address-form`). No page shows that `eusd-mob` has
 * addresses of MobileCoin: it is read off its name.
 */
export const addressForms: AddressForms = Object.freeze({
  'usdt-trc20': 'tron',
  'usdc-matic': 'evm',
  'eusd-mob': 'mobilecoin',
});

/** The forms with those that are always known. @throws {ConfigurationError} `invalid_option` */
export function readAddressForms(given: unknown, name: string): AddressForms {
  if (typeof given !== 'object' || given === null)
    throw invalidOption(`${name} must be an object of chains and their forms.`);
  for (const [chain, form] of Object.entries(given)) checkOneOf(`${name}.${chain}`, form, formNames);
  // Sound: each form was checked.
  return Object.freeze({ ...addressForms, ...(given as AddressForms) });
}

/** The form of a chain or of its network, without regard to case, separators and blanks. The user's own come first. */
export function formOfChain(chain: string, forms: AddressForms): AddressForm | undefined {
  const known = Object.entries(forms)
    .map(([name, form]) => ({ names: endingsOf(name).slice(0, 2), form }))
    .reverse();
  for (const ending of endingsOf(chain)) {
    const found = known.find(({ names }) => names.includes(ending));
    if (found !== undefined) return found.form;
  }
  return undefined;
}

/** The ends of a chain, the longest first: `usdttrc20`, `trc20`, `20` for `usdt-trc-20`. */
function endingsOf(chain: string): string[] {
  const parts = chain.toLowerCase().split(separators).filter(Boolean);
  return parts.map((_, at) => parts.slice(at).join(''));
}

/** White space and the punctuation of ASCII. */
const separators = /[\s!-/:-@[-`{-~]+/;
