import { describe, expect, it } from 'vitest';
import { findRepeatedNames } from '../../tools/checks/repeated-names.ts';

describe('the check of repeated names', () => {
  it('finds a name that two files export, in each kind of declaration', () => {
    const sources = {
      'src/a/one.ts':
        'export interface Reply {}\nexport const send = 1, read = 2;\nexport function check() {}',
      'src/b/two.ts':
        'export type Reply = string;\nexport class send {}\nexport function check() {}\nconst read = 1;',
    };
    expect(findRepeatedNames(sources)).toEqual([
      'Reply is exported by src/a/one.ts and src/b/two.ts',
      'send is exported by src/a/one.ts and src/b/two.ts',
      'check is exported by src/a/one.ts and src/b/two.ts',
    ]);
    expect(findRepeatedNames({ 'src/a/attempt.ts': '', 'src/b/attempt.ts': '' })).toHaveLength(1);
  });

  it('passes over entries, overloads and default exports', () => {
    const sources = {
      'src/a/index.ts': 'export const version = 1;',
      'src/b/index.ts': 'export const version = 1;',
      'src/a/one.ts':
        'export default 1;\nexport function read(a: string): void;\nexport function read(a: number): void;',
      'src/b/two.ts': 'export default 1;',
    };
    expect(findRepeatedNames(sources)).toEqual([]);
  });
});
