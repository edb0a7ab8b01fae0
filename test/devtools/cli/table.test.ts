import { expect, it } from 'vitest';
import { tableLines } from '../../../src/devtools/cli/terminal/table.ts';

const plain = (_: string, text: string) => text;

function shown(id: string, columns: number): string[] {
  const stdout = { isTTY: true, columns, write: () => {}, writeExact: () => {} };
  return tableLines(
    [{ id, amount: '15000000.50 NGN', note: 'a note that is long enough to be cut somewhere' }],
    [
      { title: 'order', text: (row) => row.id, isWhole: true },
      { title: 'note', text: (row) => row.note },
      { title: 'amount', text: (row) => row.amount, isWhole: true },
    ],
    { stdout, paint: plain },
  ).flatMap((line) => line.split('\n'));
}

it('an amount is shown whole, and what may be cut makes room', () => {
  const [, row = ''] = shown('A-1', 40);
  expect(row).toMatch(/^A-1 .*… {2}15000000\.50 NGN$/);
  expect(row.length).toBeLessThanOrEqual(40);
});

it('a long id is shown whole, and pushes no other column off the terminal', () => {
  const id = 'order-'.repeat(20);
  const [title = '', first, second = ''] = shown(id, 60);
  expect(first).toBe(id);
  expect(second.indexOf('15000000.50 NGN')).toBe(title.indexOf('amount'));
  expect(second.length).toBeLessThanOrEqual(60);
});

it.each([
  ['東京の喫茶店で会いましょう東京', '東京の…'],
  ['👍🏽🇳🇬👍🏽🇳🇬👍🏽🇳🇬👍🏽', '👍🏽🇳🇬👍🏽…'],
  [
    'e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301',
    'e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301…',
  ],
])('%s takes the columns that a terminal gives it, and is cut between characters', (text, cut) => {
  const columns = [
    { title: 'a', text: () => text },
    { title: 'b', text: () => 'whole', isWhole: true },
  ];
  const stdout = { isTTY: true, columns: 15, write: () => {}, writeExact: () => {} };
  const [, row = ''] = tableLines([{}], columns, { stdout, paint: plain });
  expect(row).toMatch(new RegExp(`^${cut} {2,3}whole$`, 'v'));
});
