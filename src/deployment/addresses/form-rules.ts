import type { AddressReason } from './address-reasons.ts';

/** Longer than any address, however long the URL of a fog server in it is. */
export const longestAddress = 4096;

/** What is known of one form of addresses. */
export interface FormRules {
  /** Why a text is no proven address of this form; `undefined` for one whose checksum fits. Never throws. */
  examine(text: string): AddressReason | undefined;
  /** Whether a text that was examined with this result belongs to this form, and so to no other. */
  isPossible(reason: AddressReason | undefined): boolean;
  /** One text for all spellings of an address. */
  sameText(text: string): string;
  /** The best-known tokens themselves, which are never a buyer. */
  readonly contracts: readonly string[];
}
