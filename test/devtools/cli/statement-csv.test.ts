import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type ColumnTitles, readStatement } from '../../../src/devtools/cli/commands/order/statement-csv.ts';
import { rejected } from '../../support/refusal.ts';

type Source = string | Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

async function rowsOf(source: Source, titles: ColumnTitles = {}) {
  const bytes = Readable.from(typeof source === 'string' ? [Buffer.from(source)] : source);
  const rows: object[] = [];
  for await (const row of readStatement(bytes, titles)) rows.push(row);
  return rows;
}

describe('the statement of `order reconcile`', () => {
  it('reads quotes, other line breaks, a BOM, empty lines and columns in any order', async () => {
    const csv = '\uFEFFPaid,Order\r\n"15,000.50",A-1\r\n\r\n, "B ""2""" \r\n';
    const options = { id: 'Order', amount: 'Paid' };
    const rows = [{ id: 'A-1', amount: '15,000.50' }, { id: 'B "2"' }];
    expect(await rowsOf(csv, options)).toStrictEqual(rows);
    const chunks = [...csv].map((character) => Buffer.from(character));
    expect(await rowsOf(chunks, options)).toStrictEqual(rows);
  });

  it('reads a title in quotes after a BOM', async () => {
    expect(await rowsOf('\uFEFF"partner_order_id"\nA-1\n')).toEqual([{ id: 'A-1' }]);
  });

  it.each<[object, ColumnTitles]>([
    [{ id: 'A-1' }, {}],
    [{ id: 'A-1', amount: '7' }, { amount: 'amount' }],
    [{ id: 'A-1', hash: '0x1' }, { hash: 'hash' }],
    [
      { id: '7', hash: 'A-1' },
      { id: 'amount', hash: 'partner_order_id' },
    ],
  ])('gives %j where the columns are named so', async (row, options) => {
    expect(await rowsOf('amount,partner_order_id,hash\n7,A-1,0x1\n', options)).toStrictEqual([row]);
  });

  it.each<[string, Uint8Array[]]>([
    ['Latin-1', [Buffer.from('partner_order_id\né\n', 'latin1')]],
    ['UTF-16', [Buffer.from('\uFEFFpartner_order_id\nA-1\n', 'utf16le')]],
    ['half a character at the end', [Buffer.from('partner_order_id\né').subarray(0, -1)]],
  ])('ends at a statement that is not UTF-8: %s', async (_, source) => {
    expect(await rejected(rowsOf(source))).toMatchObject({
      message: 'The statement cannot be used: it is not UTF-8: export it as UTF-8.',
    });
  });

  it('reads no row from a header alone', async () => {
    expect(await rowsOf('partner_order_id\n')).toEqual([]);
  });

  it.each([
    ['', 'it has no header'],
    ['partner_order_id,x\n1,2,secret', 'line 2 cannot be read (CSV_RECORD_INCONSISTENT_FIELDS_LENGTH)'],
    ['x,partner_order_id,partner_order_id\n1,2,3', 'it has the column "partner_order_id" twice'],
    ['partner_order_id,x\nA-1,1\n,1\n', 'row 3 has no "partner_order_id"'],
    [
      'partner_order_id;x\n1;2',
      'it has no column "partner_order_id": its first line is "partner_order_id;x" (commas separate its columns)',
    ],
    ['partner_order_id\n"secret', 'line 2 cannot be read (CSV_QUOTE_NOT_CLOSED)'],
  ])('ends at a statement that cannot be read: %j', async (csv, message) => {
    const error = await rejected(rowsOf(csv));
    expect(error).toMatchObject({ exitCode: 2, message: `The statement cannot be used: ${message}.` });
    expect(String(error)).not.toContain('secret');
  });

  it('does not collect the rest of a file after an unclosed quote', async () => {
    let chunks = 0;
    function* endless() {
      yield Buffer.from('partner_order_id\n"');
      for (; chunks < 100; chunks++) yield Buffer.alloc(65_536, 'x');
    }
    expect(await rejected(rowsOf(endless()))).toMatchObject({
      message: expect.stringContaining('line 2 cannot be read (CSV_MAX_RECORD_SIZE)'),
    });
    expect(chunks).toBeLessThan(30);
  });

  it('throws what the source throws', async () => {
    async function* broken() {
      yield Buffer.from('partner_order_id\nA-1\n');
      throw new Error('reset');
    }
    expect(await rejected(rowsOf(broken()))).toEqual(new Error('reset'));
  });

  it.each(['its reader ends early', 'it cannot be read'])('closes the source when %s', async (when) => {
    let isClosed = false;
    async function* source() {
      try {
        yield Buffer.from(when === 'it cannot be read' ? 'Order\nA-1\n' : 'partner_order_id\nA-1\n');
        for (;;) yield Buffer.from('A-2\n');
      } finally {
        isClosed = true;
      }
    }
    const reading = async () => {
      for await (const _ of readStatement(source(), {})) break;
    };
    await reading().catch(() => {});
    await expect.poll(() => isClosed).toBe(true);
  });
});
