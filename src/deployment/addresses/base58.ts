import { hash } from '../../internal/hash.ts';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const digits: ReadonlyMap<string, number> = new Map([...alphabet].map((digit, value) => [digit, value]));

/** Digits that a number holds exactly: 58 ** 9 < 2 ** 53. */
const chunkLength = 9;
/** `undefined` for a text that is not base58. Takes quadratic time: bound the length. */
export function decodeBase58(text: string): Buffer | undefined {
  let value = 0n;
  for (let start = 0; start < text.length; start += chunkLength) {
    const chunk = text.slice(start, start + chunkLength);
    let number = 0;
    for (const character of chunk) {
      const digit = digits.get(character);
      if (digit === undefined) return undefined;
      number = number * 58 + digit;
    }
    value = value * BigInt(58 ** chunk.length) + BigInt(number);
  }
  const hex = value === 0n ? '' : value.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  const zeros = /^1*/.exec(text)?.[0].length ?? 0;
  return zeros === 0 ? bytes : Buffer.concat([Buffer.alloc(zeros), bytes]);
}

/** Whether the last four bytes are the first of the double SHA-256 of the others: Base58Check. */
export function fitsDoubleHash(bytes: Buffer): boolean {
  const once = hash('sha256', bytes.subarray(0, -4), 'binary');
  const twice = hash('sha256', Buffer.from(once, 'latin1'), 'hex');
  return twice.startsWith(bytes.toString('hex', bytes.length - 4));
}
