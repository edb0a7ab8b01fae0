import { latinDigits } from '../phone/latin-digits.ts';

/** A source of random bytes. */
export type RandomBytes = (bytes: number) => Uint8Array;

/** The largest multiple of ten that a byte can count to: a byte from 250 would make 0 to 5 more likely. */
const fairBytes = 250;
/** Bytes are refused one time in 43. A source that still gives none after this many draws is broken. */
const maxDraws = 100;

/** A code of decimal digits, each as likely as any other. */
export function makeCode(length: number, random: RandomBytes): string {
  let code = '';
  for (let draw = 0; draw < maxDraws; draw++) {
    for (const byte of random(length)) {
      if (byte < fairBytes) code += String(byte % 10);
      if (code.length === length) return code;
    }
  }
  throw new Error('The source of random bytes is broken.');
}

/** Longer than any code with blanks between its digits. */
const maxTyped = 64;

/**
 * The code that somebody meant who typed or pasted this text: without blanks and dashes, in digits of any script. Text
 * that is not such a code becomes one that never matches.
 */
export function readTypedCode(text: string): string {
  return text.length > maxTyped ? '' : latinDigits(text).replace(/[\s\p{Pd}]/gu, '');
}
