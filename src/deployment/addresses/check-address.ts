import { defineOptions, invalidOption, list, type OptionTable, text, value } from '../../internal/options.ts';
import {
  type AddressForm,
  type AddressForms,
  addressForms,
  formNames,
  formOfChain,
  readAddressForms,
} from './address-forms.ts';
import { type AddressReason, type AddressVerdict, addressReasons } from './address-reasons.ts';
import { evm } from './evm.ts';
import { type FormRules, longestAddress } from './form-rules.ts';
import { mobilecoin } from './mobilecoin.ts';
import { isSecret } from './secret.ts';
import { tron } from './tron.ts';

const formRules: Readonly<Record<AddressForm, FormRules>> = { tron, evm, mobilecoin };

/** Options of {@link checkAddress}. */
export interface CheckAddressOptions {
  /** The chain as the order names it: `usdt-trc20`. */
  chain: string;
  /**
   * The forms of further chains, or other forms of known ones, added to `addressForms`.
   * @default addressForms (assumed, ledger: `address-form`)
   */
  forms?: AddressForms | undefined;
  /** Addresses of further token contracts, which are refused too. @default [] */
  contracts?: readonly string[] | undefined;
}

/** The result of {@link checkAddress}. */
export interface AddressCheck {
  /** Refuse an order only if this is `refused`: what is unknown passes. */
  readonly verdict: AddressVerdict;
  /** Why it is not `valid`. */
  readonly reason?: AddressReason | undefined;
  /** The forms that an address of another chain fits (`other_chain`). */
  readonly looksLike?: readonly AddressForm[] | undefined;
}

const readOptions = defineOptions('checkAddress', {
  chain: text(),
  forms: value(readAddressForms, { default: addressForms }),
  contracts: list(text(), { default: [] }),
} satisfies OptionTable<CheckAddressOptions>);

/**
 * Checks offline whether an address is possible on a chain: its form, its checksum, and known addresses that no buyer
 * has. It cannot tell whether anybody holds the address.
 *
 * Nothing is rewritten: an address with a blank at its end is refused, not trimmed. On a chain whose network is not in
 * `forms` everything but a secret is `unchecked`. An address of an EVM chain in one case carries no checksum, so a typing
 * error in it shows nowhere.
 *
 * @throws {ConfigurationError} `invalid_option`, for the options and for an address that is not text; no text throws
 * @example
 * ```ts
 * const { verdict, reason } = checkAddress(address, { chain: 'usdt-trc20' });
 * if (verdict === 'refused') return askAgain(reason);
 * ```
 */
export function checkAddress(address: string, options: CheckAddressOptions): AddressCheck {
  const { chain, forms, contracts } = readOptions(options);
  if (typeof address !== 'string') throw invalidOption('The address must be a text.');
  return checkOnChain(address, { chain, forms, contracts });
}

/** Checks an address with options that have been checked. */
export function checkOnChain(
  address: string,
  { chain, forms, contracts = [] }: { chain: string; forms: AddressForms; contracts?: readonly string[] },
): AddressCheck {
  if (isSecret(address)) return because('secret');
  const form = formOfChain(chain, forms);
  if (form === undefined) return because(contracts.includes(address) ? 'token_contract' : 'unknown_chain');
  return checkForm(address, form, contracts);
}

function checkForm(address: string, form: AddressForm, contracts: readonly string[]): AddressCheck {
  if (blank.test(address)) return because('white_space');
  if (address.length > longestAddress) return because(form === 'mobilecoin' ? 'unknown_form' : 'form');
  const { examine, sameText, isPossible, contracts: known } = formRules[form];
  const reason = examine(address);
  if (!isPossible(reason)) {
    const looksLike = formNames.filter(
      (other) => other !== form && formRules[other].isPossible(formRules[other].examine(address)),
    );
    if (looksLike.length > 0) return { ...because('other_chain'), looksLike };
  }
  const same = sameText(address);
  if ([...known, ...contracts].some((contract) => sameText(contract) === same))
    return because('token_contract');
  return reason === undefined ? { verdict: 'valid' } : because(reason);
}

export function because(reason: AddressReason): AddressCheck {
  return { verdict: addressReasons[reason].verdict, reason };
}

/** White space, and what no screen shows: zero-width characters, marks of direction, control characters. */
const blank = /[\s\p{Cc}\p{Cf}]/u;
