import { describe, expect, it } from 'vitest';
import { checkPrefix, checkStore } from '../../src/store/record-store.ts';
import { refusal } from '../support/refusal.ts';

const refused = 'ConfigurationError invalid_option';
const call = () => {};

describe('a record store that is given', () => {
  it.each([undefined, null, 'store', {}, { transact: call }, { list: call }, { transact: 1, list: call }])(
    'is refused if it is %o',
    (given) => {
      expect(refusal(() => checkStore(given))).toBe(refused);
    },
  );

  it('is taken as it is', () => {
    const store = { transact: call, list: call };
    expect(checkStore(store)).toBe(store);
  });
});

describe('a prefix of keys', () => {
  it.each([undefined, 7, ['a'], '', 'a'.repeat(201), ' a', 'a ', 'a b', 'a\n', '\u007f', 'é'])(
    'is refused if it is %j',
    (prefix) => {
      expect(refusal(() => checkPrefix(prefix))).toBe(refused);
    },
  );

  it.each(['a', 'a'.repeat(200), '!/~'])('is taken as it is: %s', (prefix) => {
    expect(checkPrefix(prefix)).toBe(prefix);
  });
});
