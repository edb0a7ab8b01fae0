import type { SigningPurpose } from '../../credentials/signing-key.ts';
import { type Serialization, serializationRules } from '../../signature/serializations.ts';
import {
  type Construction,
  type Encoding,
  type OrderKey,
  type SignatureScheme,
  schemeParts,
} from '../../signature/signature-scheme.ts';

/** What may stand between secret and text. Some services end a query with `&key=`. */
export const separators = ['', '|', ':', '.', '&', ',', '/', '\n', '&key='] as const;

/** What may stand between joined values. */
export const joiners = ['', '|', ':', '.', '&', ',', ';', '/', '-', '_', '\n', ' '] as const;

/** What may stand between the two parts of a key. */
export const keySeparators = ['', '|', ':', '.', '-', '_', '&', ',', '/', '\n'] as const;

/** How the secret enters the digest: one part of a scheme. */
export interface FormRule {
  readonly construction: Construction;
  readonly separator?: string | undefined;
}

/** Which text is signed. */
export interface TextRule {
  readonly serialization: Serialization;
  readonly joiner?: string | undefined;
}

/** What the key is made of. Empty: the scheme's default, or the partner secret for a general request. */
export interface KeyRule {
  readonly orderKey?: OrderKey | undefined;
  readonly keySeparator?: string | undefined;
}

export interface SchemeRules {
  readonly form: FormRule;
  readonly text: TextRule;
  readonly key: KeyRule;
  readonly encoding: Encoding;
}

/**
 * Every known scheme, each function once. A scheme names only what differs from the default and has an effect (no
 * separator under `hmac`, no `keySeparator` for a key of one part, a joiner only for values).
 */
export function* allSchemes(purpose: SigningPurpose = 'order'): Generator<SignatureScheme> {
  const texts = allTextRules();
  for (const key of allKeyRules(purpose)) {
    for (const form of allFormRules()) {
      for (const text of texts) {
        for (const encoding of schemeParts.encoding) yield composeScheme({ form, text, key, encoding });
      }
    }
  }
}

export function allFormRules(): FormRule[] {
  return schemeParts.construction.flatMap((construction): FormRule[] =>
    construction === 'hmac'
      ? [{ construction }]
      : separators.map((separator) => ({ construction, ...(separator && { separator }) })),
  );
}

export function allTextRules(): TextRule[] {
  return schemeParts.serialization.flatMap((serialization) =>
    serializationRules(serialization).takesJoiner
      ? joiners.map((joiner) => ({ serialization, ...(joiner && { joiner }) }))
      : [{ serialization }],
  );
}

/** @param between the key separators to try */
export function allKeyRules(purpose: SigningPurpose, between: readonly string[] = keySeparators): KeyRule[] {
  // General requests have one key, whatever the scheme says about orders.
  if (purpose === 'general') return [{}];
  return schemeParts.orderKey.flatMap((orderKey) => {
    const name = orderKey === 'merchant+partner' ? {} : { orderKey };
    return hasTwoParts(orderKey)
      ? between.map((keySeparator) => ({ ...name, ...(keySeparator && { keySeparator }) }))
      : [name];
  });
}

export function composeScheme({ form, text, key, encoding }: SchemeRules): SignatureScheme {
  const { construction, ...separator } = form;
  const { serialization, ...joiner } = text;
  return { construction, serialization, encoding, ...separator, ...joiner, ...key };
}

/** The same scheme, reduced to what differs from the default and has an effect. */
export function normalizeScheme(scheme: SignatureScheme): SignatureScheme {
  const { construction, serialization, encoding, separator, joiner, orderKey, keySeparator } = scheme;
  return {
    construction,
    serialization,
    encoding,
    ...(separator && construction !== 'hmac' && { separator }),
    ...(joiner && serializationRules(serialization).takesJoiner && { joiner }),
    ...(orderKey && orderKey !== 'merchant+partner' && { orderKey }),
    ...(keySeparator && hasTwoParts(orderKey ?? 'merchant+partner') && { keySeparator }),
  };
}

export function hasTwoParts(orderKey: OrderKey): boolean {
  return orderKey.includes('+');
}
