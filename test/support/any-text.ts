import * as fc from 'fast-check';

/**
 * Texts of any UTF-16 code units, halves of surrogate pairs among them. In the place of `unit: 'binary'`, which takes five
 * seconds to prepare in each file.
 */
export const anyText = fc.string({ unit: fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit)) });
