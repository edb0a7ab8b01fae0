import { describe, expect, it } from 'vitest';
import { checkNames, type OptionNames } from '../../src/options/check-names.ts';
import { checkFunction, checkInteger, checkOneOf, checkTimerMs } from '../../src/options/check-values.ts';
import { withDefaults } from '../../src/options/with-defaults.ts';
import { refusal } from '../errors/refusal.ts';

interface Options {
  timeoutMs?: number | undefined;
  fetch?: typeof fetch | undefined;
}
const names: OptionNames<Options> = { timeoutMs: true, fetch: true };

describe('options by name', () => {
  it('may be any that are known, or none', () => {
    checkNames('createThing', {}, names);
    checkNames('createThing', { timeoutMs: 1, fetch: undefined }, names);
  });

  it('are refused with the nearest known one', () => {
    expect(() => checkNames('createThing', { timeout: 5 }, names)).toThrow(
      '"timeout" is not an option of createThing. Did you mean "timeoutMs"?',
    );
  });

  it('are refused with all known ones when none is near', () => {
    expect(() => checkNames('createThing', { colour: 'red' }, names)).toThrow(
      '"colour" is not an option of createThing. Its options are timeoutMs, fetch.',
    );
  });

  it('may not be names of every object', () => {
    expect(() => checkNames('createThing', { toString: 1 }, names)).toThrow('"toString"');
  });

  it.each([undefined, null, 'timeoutMs', 7])('must be an object: %j', (options) => {
    expect(refusal(() => checkNames('createThing', options, names))).toBe(
      'ConfigurationError invalid_option',
    );
  });

  it('show no more than the beginning of a long name', () => {
    const long = 'k'.repeat(10_000);
    expect(() => checkNames('createThing', { [long]: 1 }, names)).toThrow(/^.{10,160}$/);
  });
});

describe('the value of an option', () => {
  it.each([
    [() => checkInteger('size', 0), 'size must be a whole number of at least 1.'],
    [() => checkInteger('size', 1.5, { least: 0 }), 'size must be a whole number of at least 0.'],
    [() => checkInteger('size', '5', { most: 9 }), 'size must be a whole number from 1 to 9.'],
    [() => checkInteger('size', Number.NaN), 'size must be'],
    [() => checkTimerMs('waitMs', 2 ** 31), 'waitMs must be a whole number from 1 to 2147483647.'],
    [() => checkFunction('now', 5), 'now must be a function.'],
    [() => checkOneOf('role', 'neither', ['both', 'receiver']), "role must be 'both' or 'receiver'."],
  ])('is refused with what it must be', (check, message) => {
    expect(check).toThrow(message);
    expect(refusal(check)).toBe('ConfigurationError invalid_option');
  });

  it('is returned when it is sound', () => {
    expect(checkInteger('size', 9, { most: 9 })).toBe(9);
    expect(checkTimerMs('waitMs', 2 ** 31 - 1)).toBe(2 ** 31 - 1);
    expect(checkOneOf('role', 'both', ['both', 'receiver'])).toBe('both');
  });
});

describe('defaults', () => {
  it('take the place of what is absent or undefined, and of nothing else', () => {
    const defaults = { timeoutMs: 5, limit: 3 };
    const options: { timeoutMs?: number | undefined; limit?: number; name: string | null } = {
      timeoutMs: undefined,
      limit: 0,
      name: null,
    };
    expect(withDefaults(options, defaults)).toEqual({ timeoutMs: 5, limit: 0, name: null });
    expect(defaults).toEqual({ timeoutMs: 5, limit: 3 });
  });
});
