import { describe, expect, it } from 'vitest';
import { root } from '../../tools/checks/entries.ts';
import { findContactProblems, readContacts } from '../../tools/release/release-contacts.ts';

const real = {
  'package.json repository': 'git+https://code.example/partner/sdk.git',
  'package.json bugs': 'https://code.example/partner/sdk/issues',
  'package.json homepage': 'https://code.example/partner/sdk',
  'SECURITY.md contact': 'mailto:security@code.example',
};

describe('a release', () => {
  it('is taken with real addresses', () => {
    expect(findContactProblems(real)).toEqual([]);
  });

  it.each(Object.keys(real))('is refused without an address, and with a placeholder: %s', (place) => {
    expect(findContactProblems({ ...real, [place]: '' })).toEqual([`${place} has no address.`]);
    const placeholder = { ...real, [place]: 'mailto:security@maintainers.invalid' };
    expect(findContactProblems(placeholder)).toEqual([
      `${place} has the placeholder security@maintainers.invalid: give the real address.`,
    ]);
  });

  it('finds a contact in every place of this package', () => {
    const problems = findContactProblems(readContacts(root));
    expect(problems.filter((problem) => problem.endsWith('has no address.'))).toEqual([]);
  });
});
