import type { SigningPurpose } from '../../../credentials/signing-key.ts';
import { isSignatureError } from '../../../errors/errors.ts';
import { isSignedWith } from '../../../signature/digest.ts';
import { type BodyForms, signedTexts, type TextRules } from '../../../signature/serializations.ts';
import type { SignatureScheme } from '../../../signature/signature-scheme.ts';
import { tryVerify } from '../try-verify.ts';
import { isUsable, readSample, type Sample } from './samples.ts';
import {
  allFormRules,
  allTextRules,
  composeScheme,
  type KeyCandidates,
  keyCandidates,
  makeKey,
  merchantSecrets,
  rankSchemes,
  type UncheckedKeys,
} from './scheme-space.ts';

/** A text to try, and the rules that write it. */
export type TextCandidates = ReadonlyMap<string, readonly TextRules[]>;

/**
 * The schemes under which a receiver verifies a body, the most plausible first: every construction, separator,
 * serialisation, joiner, key and encoding is tried. 1 KiB takes tenths of a second, 64 KiB some seconds.
 */
export function fittingSchemes(
  body: string | Uint8Array,
  secrets: UncheckedKeys,
  purpose: SigningPurpose = 'order',
): SignatureScheme[] {
  const sample = readSample(body);
  if (!isUsable(sample)) return [];
  const merchants = merchantSecrets(secrets).map((merchant) => merchant.secrets);
  return rankSchemes(schemesOf(sample, { merchants, purpose }));
}

/** The schemes that fit one sample, unranked. */
export function schemesOf(sample: Sample, signers: Signers): SignatureScheme[] {
  const keys = keyCandidates(signers.merchants, signers.purpose);
  return searchSchemes(sample, { keys, texts: textCandidates(sample) }).filter((scheme) =>
    isVerified(sample, scheme, signers),
  );
}

/** Who may have signed a body. */
interface Signers {
  readonly merchants: readonly UncheckedKeys[];
  readonly purpose: SigningPurpose;
}

/** Every scheme under which one of the texts and keys gives the sample's signature: to be verified, see `isVerified`. */
export function searchSchemes(
  { source, claimedDigest, encodings }: Sample,
  { keys, texts }: { keys: KeyCandidates; texts: TextCandidates },
): SignatureScheme[] {
  const keyTexts = [...keys.keys()];
  const plausible = [...texts].filter(([text]) => text.length <= longestText(source));
  const found: SignatureScheme[] = [];
  for (const form of allFormRules()) {
    const scheme = { ...form, ...anyText, ...anyEncoding };
    for (const [text, textRules] of plausible) {
      // The keys differ, so at most one gives this digest.
      const key = keyTexts.find((candidate) => isSignedWith(scheme, candidate, { text, claimedDigest }));
      if (key === undefined) continue;
      for (const textRule of textRules) {
        for (const keyRule of keys.get(key) ?? []) {
          for (const encoding of encodings) {
            found.push(composeScheme({ form, text: textRule, key: keyRule, encoding }));
          }
        }
      }
    }
  }
  return found;
}

/**
 * How long a text can be that a body is signed as: six times as long if all is escaped, and some more for a small body.
 * Each text is hashed some hundred times, and a forged body of brackets has millions of characters when it is indented.
 */
export function longestText(source: string): number {
  return 8 * source.length + 1024;
}

/** The distinct texts of a body under every rule. Leaves out rules that cannot write so deep a body. */
export function textCandidates(
  body: BodyForms,
  rules: readonly TextRules[] = allTextRules(),
): TextCandidates {
  const candidates = new Map<string, TextRules[]>();
  for (const rule of rules) {
    for (const text of textsUnder(rule, body)) {
      const alike = candidates.get(text);
      if (alike) alike.push(rule);
      else candidates.set(text, [rule]);
    }
  }
  return candidates;
}

/** `undefined` if the body is nested too deeply for the rule. */
export function textUnder(rule: TextRules, body: BodyForms): string | undefined {
  return textsUnder(rule, body)[0];
}

function textsUnder(rule: TextRules, body: BodyForms): readonly string[] {
  try {
    return signedTexts(rule, body);
  } catch (error) {
    if (!isSignatureError(error)) throw error;
    return [];
  }
}

/** Whether the code of a receiver takes the sample. A scheme that was found is one only if it does. */
export function isVerified(
  { source }: Sample,
  scheme: SignatureScheme,
  { merchants, purpose }: Signers,
): boolean {
  const keys = merchants.flatMap((secrets) => makeKey(secrets, scheme, purpose) ?? []);
  return keys.length > 0 && tryVerify(source, keys, scheme).refusal === undefined;
}

// For the parts of a scheme that a function ignores.
const anyText = { serialization: 'as-sent' } as const;
const anyEncoding = { encoding: 'hex' } as const;
