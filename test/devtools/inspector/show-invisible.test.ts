import { h } from 'preact';
import { expect, it } from 'vitest';
import { showInvisible } from '../../../src/devtools/inspector/show-invisible.ts';

showInvisible();

it('the page shows marks that reorder text as escapes, and keeps line breaks', () => {
  const reordering = '\u202a\u202e\u2066\u2069';
  const element = h('p', { title: `a${reordering}` }, `a${reordering}\nb`, 7, h('b', null, '\u200b'));
  expect(element.props).toMatchObject({
    title: 'a\\u202a\\u202e\\u2066\\u2069',
    children: ['a\\u202a\\u202e\\u2066\\u2069\nb', 7, { props: { children: '\\u200b' } }],
  });
});
