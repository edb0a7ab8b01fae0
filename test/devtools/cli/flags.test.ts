import { expect, expectTypeOf, it } from 'vitest';
import {
  type ArgsOf,
  arg,
  choiceArg,
  type FlagsOf,
  formatFlags,
  manyArgs,
  optionalFile,
  textFlag,
  webAddress,
  wholeNumber,
} from '../../../src/devtools/cli/terminal/flags.ts';

const flags = {
  name: textFlag.required('name', 'A name'),
  note: textFlag.optional('text', 'A note'),
  to: webAddress.list('url', 'Addresses'),
  times: wholeNumber(1, 3).withDefault('number', 'How often', '1'),
  ...formatFlags,
};

it('a command gets the values of its options in the types that their parsers return', () => {
  expectTypeOf<FlagsOf<typeof flags>>().toEqualTypeOf<{
    readonly name: string;
    readonly note: string | undefined;
    readonly to: readonly URL[] | undefined;
    readonly times: number;
    readonly format: 'text' | 'json';
    readonly debug: boolean;
  }>();
  expect(flags.times.parse('3')).toBe(3);
  expect(() => flags.times.parse('4')).toThrow('must be a whole number from 1 to 3');
});

it('a command gets its arguments in the types that their parsers return', () => {
  const args = [
    arg('id', 'An id'),
    choiceArg('state', ['on', 'off'], 'A state'),
    optionalFile('A file'),
  ] as const;
  const many = manyArgs(arg('file', 'Files'));
  expectTypeOf<ArgsOf<typeof args>>().toEqualTypeOf<readonly [string, 'on' | 'off', string | undefined]>();
  expectTypeOf<ArgsOf<typeof many>>().toEqualTypeOf<string[]>();
  expect(args[1].parse('off')).toBe('off');
});
