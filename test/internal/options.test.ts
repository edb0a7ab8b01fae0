import { describe, expect, expectTypeOf, it } from 'vitest';
import { ConfigurationError } from '../../src/errors/errors.ts';
import {
  callback,
  checkNode,
  defineOptions,
  flag,
  integer,
  list,
  nested,
  type OptionTable,
  oneOf,
  optional,
  text,
  timerMs,
} from '../../src/internal/options.ts';
import { refusal } from '../support/refusal.ts';

interface ThingOptions {
  url: string;
  timeoutMs?: number | undefined;
  limit?: number | undefined;
  role?: 'both' | 'receiver' | undefined;
  quiet?: boolean | undefined;
  retry?: { firstDelayMs?: number | undefined; maxDelayMs?: number | undefined } | undefined;
  isNew?: ((report: { readonly status: number }) => boolean) | undefined;
  onError?: ((error: Error) => unknown) | undefined;
  prefixes?: readonly string[] | undefined;
}

const table = {
  url: text(),
  timeoutMs: timerMs({ default: 30_000 }),
  limit: optional(integer({ most: 9 })),
  role: oneOf(['both', 'receiver'], { default: 'both' }),
  quiet: flag({ default: false }),
  retry: nested({ firstDelayMs: integer({ default: 1_000 }), maxDelayMs: integer({ default: 600_000 }) }),
  isNew: callback({ default: ({ status }) => status === 201 }),
  onError: optional(callback()),
  prefixes: list(text(), { default: ['+1'] }),
} satisfies OptionTable<ThingOptions>;

const readOptions = defineOptions('createThing', table);

describe('options', () => {
  it('have their defaults, and those without one are undefined', () => {
    const settings = readOptions({ url: 'here' });
    expect(settings).toEqual({
      url: 'here',
      timeoutMs: 30_000,
      limit: undefined,
      role: 'both',
      quiet: false,
      retry: { firstDelayMs: 1_000, maxDelayMs: 600_000 },
      isNew: expect.any(Function),
      onError: undefined,
      prefixes: ['+1'],
    });
    expect(settings.isNew({ status: 201 })).toBe(true);
  });

  it('are those given, which stay as they are', () => {
    const given = { url: 'here', timeoutMs: undefined, limit: 9, quiet: true, retry: { firstDelayMs: 5 } };
    const before = structuredClone(given);
    const retry = { firstDelayMs: 5, maxDelayMs: 600_000 };
    expect(readOptions(given)).toMatchObject({ timeoutMs: 30_000, limit: 9, quiet: true, retry });
    expect(given).toEqual(before);
  });

  it.each([
    [{}, 'url must be a text that is not empty.'],
    [{ url: '' }, 'url must be a text that is not empty.'],
    [{ url: 'here', timeoutMs: 0 }, 'timeoutMs must be a whole number from 1 to 2147483647.'],
    [{ url: 'here', timeoutMs: null }, 'timeoutMs must be a whole number from 1 to 2147483647.'],
    [{ url: 'here', limit: 10 }, 'limit must be a whole number from 1 to 9.'],
    [{ url: 'here', role: 'neither' }, "role must be 'both' or 'receiver'."],
    [{ url: 'here', quiet: 'no' }, 'quiet must be true or false.'],
    [{ url: 'here', onError: 'log' }, 'onError must be a function.'],
    [{ url: 'here', retry: 5 }, 'retry needs an options object.'],
    [{ url: 'here', retry: { maxDelayMs: 1.5 } }, 'retry.maxDelayMs must be a whole number of at least 1.'],
    [{ url: 'here', prefixes: '+1' }, 'prefixes must be a list.'],
    [{ url: 'here', prefixes: ['+1', 1] }, 'prefixes[1] must be a text that is not empty.'],
    [{ url: 'here', retry: { delay: 1 } }, '"delay" is not an option of retry.'],
    [{ url: 'here', timeout: 5 }, '"timeout" is not an option of createThing. Did you mean "timeoutMs"?'],
    [{ url: 'here', toString: 1 }, '"toString" is not an option of createThing.'],
  ])('are refused with what they must be: %j', (given, message) => {
    expect(() => readOptions(given)).toThrow(message);
    expect(refusal(() => readOptions(given))).toBe('ConfigurationError invalid_option');
  });

  it.each([undefined, null, 'url', 7])('must be an object: %j', (given) => {
    expect(() => readOptions(given)).toThrow('createThing needs an options object.');
  });

  it('are named, all of them, where none is near, and in the order of the table', () => {
    expect(() => readOptions({ colour: 'red' })).toThrow(
      '"colour" is not an option of createThing. Its options are url, timeoutMs, limit, role, quiet, retry, isNew, onError, prefixes.',
    );
  });

  it('are refused with the code of what they describe', () => {
    const rows = { ...table, url: optional(text()) };
    const readDeployment = defineOptions('defineDeployment', rows, 'invalid_deployment');
    for (const options of [{ uri: 'x' }, { url: 5 }, { prefixes: [1] }, { retry: { maxDelayMs: '1' } }])
      expect(refusal(() => readDeployment(options))).toBe('ConfigurationError invalid_deployment');
  });

  it('keep the code of a row that has one of its own', () => {
    const check = () => {
      throw new ConfigurationError('invalid_scheme', 'No such scheme.');
    };
    const read = defineOptions('defineDeployment', { signature: check }, 'invalid_deployment');
    expect(refusal(() => read({}))).toBe('ConfigurationError invalid_scheme');
  });

  it('that are a list are a copy, which cannot be changed', () => {
    const given = ['+1', '+2'];
    const { prefixes } = readOptions({ url: 'here', prefixes: given });
    expect(prefixes).toEqual(given);
    const { prefixes: standard } = readOptions({ url: 'here' });
    expect([prefixes, given, standard].map(Object.isFrozen)).toEqual([true, false, true]);
  });

  it('have the types of their rows', () => {
    const settings = readOptions({ url: 'here' });
    expectTypeOf(settings.timeoutMs).toEqualTypeOf<number>();
    expectTypeOf(settings.limit).toEqualTypeOf<number | undefined>();
    expectTypeOf(settings.role).toEqualTypeOf<'both' | 'receiver'>();
    expectTypeOf(settings.retry.firstDelayMs).toEqualTypeOf<number>();
    expectTypeOf(settings.isNew).toEqualTypeOf<(report: { readonly status: number }) => boolean>();
  });

  it('do not compile when a row is missing, unknown or of another type', () => {
    // @ts-expect-error a row is missing
    ({}) satisfies OptionTable<{ url: string }>;
    // @ts-expect-error a row is unknown
    ({ url: text(), uri: text() }) satisfies OptionTable<{ url: string }>;
    // @ts-expect-error a row is of another type
    ({ url: integer() }) satisfies OptionTable<{ url: string }>;
    // @ts-expect-error an option that must be given may not be absent
    ({ url: optional(text()) }) satisfies OptionTable<{ url: string }>;
  });
});

it('an earlier Node than the floor is refused in words, any other runtime is taken', () => {
  for (const node of ['20.20.2', '22.11.0'])
    expect(() => checkNode({ node })).toThrow(
      `Node ${node} is too old for this package. Install Node 22.12 or later.`,
    );
  const bun = { node: '20.1.0', bun: '1.3.0' };
  const deno = { node: '20.1.0', deno: '2.5.0' };
  for (const versions of [{ node: '22.12.0' }, { node: '24.0.0' }, bun, deno, {}])
    expect(() => checkNode(versions)).not.toThrow();
});
