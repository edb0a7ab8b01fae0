import { describe, expect, it } from 'vitest';
import { StoreError } from '../../src/errors/errors.ts';
import { isNewer, isNewerFormat, newerFormat, refuseNewer, storedForm } from '../../src/store/stored-form.ts';
import { thrownBy } from '../support/refusal.ts';

interface Mail {
  readonly state: 'sent' | 'failed';
  readonly at?: number | undefined;
}

const form = storedForm<Mail>('The record of a mail', { state: true, at: true });

describe('a stored form', () => {
  it('reads its own records, and nothing where there is none', () => {
    expect(form.read({ state: 'sent', at: 7 })).toEqual({ state: 'sent', at: 7 });
    expect([form.read(undefined), form.read('sent'), form.read(null)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('refuses a record of a newer version, and says what it is', () => {
    expect(form.read({ state: 'sent', version: 1 })).toMatchObject({ state: 'sent' });
    const error = thrownBy(() => form.read({ state: 'sent', version: 2 }));
    expect(error).toMatchObject({ name: 'StoreError', code: 'newer_format' });
    expect(String(error)).toContain('The record of a mail is in the form of a newer version');
  });

  it('keeps what a newer version wrote, and leaves out what has no value', () => {
    const former = { state: 'failed', at: 1, language: 'en' };
    expect(form.write({ state: 'sent', at: undefined }, former)).toStrictEqual({
      state: 'sent',
      language: 'en',
    });
    expect(form.write({ state: 'sent' }, undefined)).toEqual({ state: 'sent' });
  });

  it('asks a check where another program may have written the record', () => {
    const checked = storedForm<Mail>('The record of a mail', { state: true, at: true }, (stored) =>
      Object(stored).state === 'sent' ? { state: 'sent' } : undefined,
    );
    expect(checked.read({ state: 'sent', at: 'now' })).toEqual({ state: 'sent' });
    expect(checked.read({ name: 'another' })).toBeUndefined();
    const lenient = storedForm<Mail>('The record of a mail', { state: true, at: true }, () => ({
      state: 'sent',
    }));
    expect(lenient.read(undefined)).toBeUndefined();
  });

  it('takes over nothing from a record that is no object', () => {
    expect(form.write({ state: 'sent' }, ['en'])).toEqual({ state: 'sent' });
  });
});

describe('a version', () => {
  it.each([
    [true, { version: 2 }],
    [true, { version: 1.5 }],
    [false, { version: 1 }],
    [false, { version: '2' }],
    [false, {}],
    [false, null],
    [false, 2],
  ])('is newer: %j for %j', (expected, stored) => {
    expect(isNewer(stored)).toBe(expected);
    if (!expected) expect(refuseNewer(stored, 'A file')).toBe(stored);
  });

  it('has an error of its own', () => {
    const errors = [newerFormat('A file'), new StoreError('store_failed', 'no'), { code: 'newer_format' }];
    expect(errors.map(isNewerFormat)).toEqual([true, false, false]);
  });
});
