import { isSignatureError } from '../../errors/errors.ts';
import { findSigner } from '../../signature/digest.ts';
import { type BodyForms, canonicalText, type TextRules } from '../../signature/serializations.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';
import type { Sample } from './samples.ts';
import { allFormRules, allTextRules, composeScheme, type KeyCandidates } from './scheme-space.ts';

/** A text to try, and the rules that write it. */
export type TextCandidates = ReadonlyMap<string, readonly TextRules[]>;

/** Every scheme under which one of the texts and keys gives the sample's signature. */
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
      const key = keyTexts[findSigner(scheme, keyTexts, { text, claimedDigest })];
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
    const text = textUnder(rule, body);
    if (text === undefined) continue;
    const alike = candidates.get(text);
    if (alike) alike.push(rule);
    else candidates.set(text, [rule]);
  }
  return candidates;
}

/** `undefined` if the body is nested too deeply for the rule. */
export function textUnder(rule: TextRules, body: BodyForms): string | undefined {
  try {
    return canonicalText({ ...anyForm, ...rule, ...anyEncoding }, body);
  } catch (error) {
    if (!isSignatureError(error)) throw error;
    return undefined;
  }
}

export function fitsSample(scheme: SignatureScheme, key: string, sample: Sample): boolean {
  const { claimedDigest, encodings } = sample;
  if (!encodings.includes(scheme.encoding)) return false;
  const text = textUnder(scheme, sample);
  return text !== undefined && findSigner(scheme, [key], { text, claimedDigest }) === 0;
}

// For the parts of a scheme that a function ignores.
const anyForm = { construction: 'hmac' } as const;
const anyText = { serialization: 'as-sent' } as const;
const anyEncoding = { encoding: 'hex' } as const;
