import { defineOptions, invalidOption, list, type OptionTable, text, value } from '../internal/options.ts';
import {
  type AddressForm,
  type AddressForms,
  addressForms,
  formNames,
  readAddressForms,
} from './address-forms.ts';
import { type AddressReason, type AddressVerdict, addressReasons } from './address-reasons.ts';
import { evm } from './evm.ts';
import type { FormRules } from './form-rules.ts';
import { mobilecoin } from './mobilecoin.ts';
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
  /** Of `other_chain`: the forms that it fits. */
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
 * Nothing is rewritten: an address with a blank at its end is refused, not trimmed. A chain that is not in `forms` is
 * `unchecked`, never refused. An address of an EVM chain in one case carries no checksum, so a typing error in it shows
 * nowhere.
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
  const form = Object.hasOwn(forms, chain) ? forms[chain] : undefined;
  if (form === undefined) return because(contracts.includes(address) ? 'token_contract' : 'unknown_chain');
  return checkForm(address, form, contracts);
}

function checkForm(address: string, form: AddressForm, contracts: readonly string[]): AddressCheck {
  if (address.length > maxLength) return because(form === 'mobilecoin' ? 'unknown_form' : 'form');
  const bare = address.replace(blanks, '');
  if (isSecret(address, bare)) return because('secret');
  if (bare !== address) {
    const { reason } = checkForm(bare, form, contracts);
    if (reason === 'secret' || reason === 'unknown_form') return because(reason);
    return because('white_space');
  }
  const { examine, sameText, isPossible, contracts: known } = formRules[form];
  const reason = examine(address);
  if (reason === 'secret') return because(reason);
  if (!isPossible(reason)) {
    const others = formNames.filter((other) => other !== form);
    const found = others.map((other) => ({ other, reason: formRules[other].examine(address) }));
    if (found.some((each) => each.reason === 'secret')) return because('secret');
    const looksLike = found
      .filter((each) => formRules[each.other].isPossible(each.reason))
      .map(({ other }) => other);
    if (looksLike.length > 0) return { ...because('other_chain'), looksLike };
  }
  const same = sameText(address);
  if ([...known, ...contracts].some((contract) => sameText(contract) === same))
    return because('token_contract');
  return reason === undefined ? { verdict: 'valid' } : because(reason);
}

function because(reason: AddressReason): AddressCheck {
  return { verdict: addressReasons[reason].verdict, reason };
}

/** Longer than any address, however long the URL of a fog server in it is. */
const maxLength = 4096;

/** White space, and what no screen shows: zero-width characters, marks of direction, control characters. */
const blanks = /[\s\p{Cc}\p{Cf}]+/gu;

/** A private key in hexadecimal, also broken into lines, or the 12 to 24 words of a mnemonic. */
function isSecret(address: string, bare: string): boolean {
  if (/^(?:0x)?[0-9a-f]{64}$/i.test(bare)) return true;
  const words = address.split(/[\s,]+/, maxWords).filter(Boolean);
  return mnemonicLengths.has(words.length) && words.every((word) => /^[a-z]{3,8}$/i.test(word));
}

/** BIP-39. */
const mnemonicLengths: ReadonlySet<number> = new Set([12, 15, 18, 21, 24]);
/** More than a mnemonic has, with an empty text at each end. */
const maxWords = 27;
