import { expect, it } from 'vitest';
import { tableLines } from '../../src/cli/terminal/table.ts';

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
