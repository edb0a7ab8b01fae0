import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/internal/json.ts';
import { applyChange, checkRecordKeys } from '../../src/store/apply-change.ts';
import type { RecordSet } from '../../src/store/record-store.ts';
import { refusal } from '../support/refusal.ts';

const apply = <Result>(change: (records: RecordSet) => Result, found: Record<string, string> = {}) =>
  applyChange(['a', 'b'], new Map(Object.entries(found)), change);

const invalid = 'ConfigurationError invalid_option';

describe('a change of records', () => {
  it.each<[string, JsonValue]>([
    ['null', null],
    ['an object with a member `then` that is no function', JSON.parse('{"then":1}')],
  ])('may return %s', (_, value) => {
    expect(apply(() => value)).toMatchObject({ result: value });
  });

  it('may set a record that expired in 1970', () => {
    const { writes } = apply((records) => records.set('a', 1, { expiresAt: 0 }));
    expect(writes).toEqual(new Map([['a', { text: '1', expiresAt: 0 }]]));
  });

  it('may set a value of 3 MiB as text, and none that is longer', () => {
    // With its quotes.
    const largest = 'x'.repeat(3 * 1024 * 1024 - 2);
    expect(apply((records) => records.set('a', largest)).writes.size).toBe(1);
    expect(refusal(() => apply((records) => records.set('a', `${largest}x`)))).toBe(invalid);
  });

  it.each([undefined, () => 1])('may not set %s, which is no JSON data', (value) => {
    // Sound: the point is what the types refuse.
    const set = () => apply((records) => records.set('a', value as never));
    expect(refusal(set)).toBe(invalid);
    expect(set).toThrow('value of a record must be JSON data');
  });

  it('says which of its rules the use of a record breaks', () => {
    expect(() => apply((records) => records.get('c'))).toThrow('does not name');
    const { result } = apply((records) => ({ records }));
    expect(() => result.records.get('a')).toThrow('while its change runs');
    expect(() => apply(async () => {})).toThrow('synchronous');
  });

  it('fails with store_failed on a record that another program has written, and does not quote it', () => {
    const read = () => apply((records) => records.get('a'), { a: 'secret' });
    expect(refusal(read)).toBe('StoreError store_failed');
    expect(read).toThrow(/not JSON.*Restore the record/);
    expect(read).not.toThrow('secret');
  });

  it('needs a list of keys', () => {
    // Sound: the point is what the types refuse.
    for (const keys of ['a', undefined, { length: 1 }])
      expect(refusal(() => checkRecordKeys(keys as never))).toBe(invalid);
  });
});
