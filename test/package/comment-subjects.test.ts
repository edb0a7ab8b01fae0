import { expect, test } from 'vitest';
import { findCommentsWithoutSubject } from '../../tools/checks/comment-subjects.ts';

test('the check of comments finds one without a subject, in one line and in several', () => {
  const text = [
    '/** Of the same. */',
    'const a = 1;',
    '  /**',
    '   * By currency.',
    '   */',
    '/** The same. */',
    '/** The same text for all keys. */',
  ].join('\n');
  expect(findCommentsWithoutSubject({ 'src/a.ts': text })).toEqual([
    'src/a.ts:1: a comment that begins with "Of"',
    'src/a.ts:3: a comment that begins with "By"',
    'src/a.ts:6: a comment that begins with "The same"',
    'src/a.ts:7: a comment that begins with "The same"',
  ]);
  expect(findCommentsWithoutSubject({ 'src/a.ts': '/** Offers a key. */\n/** Sends it. */' })).toEqual([]);
});
