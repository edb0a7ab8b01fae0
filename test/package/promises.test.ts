import { describe, expect, it } from 'vitest';
import { findPromiseProblems, sentencesOf } from '../../tools/checks/check-promises.ts';
import { root } from '../../tools/checks/entries.ts';
import { promises } from '../../tools/documents/promises.ts';

describe('each promise of a page', () => {
  it('has a test, and each test of the table exists', () => {
    expect(findPromiseProblems(root)).toEqual([]);
  });

  it('would be missed without its row', () => {
    const { 'README.md': _, ...others } = promises;
    const problems = findPromiseProblems(root, others);
    expect(problems.length).toBeGreaterThan(3);
    for (const problem of problems) expect(problem).toMatch(/^README\.md promises without a test/);
  });

  it('would be missed in a page that says it no more, and so would a test that is gone', () => {
    const renamed = {
      'README.md': { 'It never fails.': [['test/package/promises.test.ts', 'is gone']] },
    } as const;
    expect(findPromiseProblems(root, { ...promises, ...renamed })).toEqual(
      expect.arrayContaining([
        'tools/documents/promises.ts has a sentence that README.md does not have: It never fails.',
        'tools/documents/promises.ts names a test that test/package/promises.test.ts does not have: is gone',
      ]),
    );
  });
});

it('the sentences of a page are those that a reader sees', () => {
  const text =
    '# Title\n\n- **One** [two](three.md). `Four` five.\n\n```ts\nNever read this.\n```\n\n| a. B |\n1. Six? Seven';
  expect(sentencesOf(text)).toEqual(['One two.', '`Four` five.', 'Six?', 'Seven']);
});
