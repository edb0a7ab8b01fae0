import * as fc from 'fast-check';

/** Any code point but halves of surrogate pairs: as `unit: 'binary'`, which takes five seconds to prepare in each file. */
export const codePoint = fc
  .nat({ max: 0x10_ffff - 0x800 })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + 0x800));

/** Texts of any UTF-16 code units, halves of surrogate pairs among them. */
export const anyText = fc.string({ unit: fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit)) });
