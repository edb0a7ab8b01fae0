import { type SerializationRules, serializations } from '../../signature/serializations.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';
import type { MismatchFinding } from './mismatch-explanation.ts';

/** How the scheme that fits differs from the configured one; empty if they are equal. */
export function compareSchemes(configured: SignatureScheme, fitting: SignatureScheme): MismatchFinding[] {
  return comparedParts.flatMap(({ part, code, usual }) => {
    const is = fitting[part] ?? usual;
    const was = configured[part] ?? usual;
    return is === was ? [] : [differing(code, part, { is, was })];
  });
}

interface ComparedPart {
  readonly part: keyof SignatureScheme;
  readonly code: MismatchFinding['code'];
  /** The default of an absent part. */
  readonly usual: string;
}

const comparedParts: readonly ComparedPart[] = [
  { part: 'construction', code: 'other-construction', usual: '' },
  { part: 'separator', code: 'other-separator', usual: '' },
  { part: 'serialization', code: 'other-serialization', usual: '' },
  { part: 'joiner', code: 'other-joiner', usual: '' },
  { part: 'encoding', code: 'other-encoding', usual: '' },
  { part: 'orderKey', code: 'other-key-material', usual: 'merchant+partner' },
  { part: 'keySeparator', code: 'other-key-separator', usual: '' },
];

function differing(
  code: MismatchFinding['code'],
  part: string,
  { is, was }: { is: string; was: string },
): MismatchFinding {
  const message = `Would match with ${part} ${JSON.stringify(is)} instead of ${JSON.stringify(was)}.`;
  if (part === 'serialization') return { code, message: `${message} ${hintOn(was)}`.trim() };
  if (part !== 'orderKey') return { code, message };
  if (is.split('+').reverse().join('+') === was) {
    return {
      code: 'key-order',
      message: `${message} Or the secrets were given in each other's place.`,
    };
  }
  return {
    code,
    message:
      is === 'partner'
        ? `${message} That is the key of general requests: is this the body of an order?`
        : message,
  };
}

function hintOn(configured: string): string {
  const rules: Readonly<Record<string, SerializationRules>> = serializations;
  return rules[configured]?.source === 'value'
    ? 'Parsing and writing again loses how the text was spelled: see the deviations.'
    : '';
}
