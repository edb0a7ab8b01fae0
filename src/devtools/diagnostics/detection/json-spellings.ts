import { isNumber, jsonTokens } from '../../../internal/json-tokens.ts';

/** How a serializer writes JSON. Absent parts stay unchanged. */
export interface Spelling {
  readonly comma?: string;
  readonly colon?: string;
  readonly number?: (literal: string) => string;
  /** Gets the value of a JSON string. */
  readonly quote?: (text: string) => string;
}

/** Writes a JSON text in another spelling, with its members in the same order. A `comma` also drops white space. */
export function rewriteJson(text: string, { comma, colon, number, quote }: Spelling): string {
  let written = '';
  for (const token of jsonTokens(text)) {
    if (token.kind === 'space') written += comma === undefined ? token.text : '';
    else if (token.text === ',') written += comma ?? ',';
    else if (token.text === ':') written += colon ?? ':';
    else if (token.kind === 'string') written += quote ? quote(String(JSON.parse(token.text))) : token.text;
    else if (token.kind === 'word' && isNumber(token.text))
      written += number ? number(token.text) : token.text;
    else written += token.text;
  }
  return written;
}

/** Writes a number as `JSON.stringify` does after `JSON.parse`. */
export function javascriptNumber(literal: string): string {
  return JSON.stringify(Number(literal));
}

/** Writes a number as Python's `json` does: integers of any size, `10.0`, `1e-07`. */
export function pythonNumber(literal: string): string {
  if (isInteger(literal)) return literal === '-0' ? '0' : literal;
  const value = Number(literal);
  if (!Number.isFinite(value)) return literal;
  const { mantissa, exponent } = scientific(value);
  if (exponent < -4 || exponent >= 16) {
    const digits = String(Math.abs(exponent)).padStart(2, '0');
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
  }
  const sign = Object.is(value, -0) ? '-' : '';
  return sign + value + (Number.isInteger(value) ? '.0' : '');
}

/** Writes a number as PHP's `json_encode` does by default: `10.0` becomes `10`, and `1e-7` becomes `1.0e-7`. */
export function phpNumber(literal: string): string {
  const value = Number(literal);
  if (isInteger(literal) && Math.abs(value) < 2 ** 63) return literal;
  if (!Number.isFinite(value)) return literal;
  const { mantissa, exponent } = scientific(value);
  if (exponent >= -4 && exponent < 17) return Object.is(value, -0) ? '-0' : String(value);
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}e${exponent < 0 ? '-' : '+'}${Math.abs(exponent)}`;
}

function isInteger(literal: string): boolean {
  return !literal.includes('.') && !literal.includes('e') && !literal.includes('E');
}

/** The shortest digits of a number, and the power of ten of the first one. */
function scientific(value: number): { mantissa: string; exponent: number } {
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  return { mantissa, exponent: Number(exponent) };
}
