import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readStatementCsv, type StatementCsvOptions } from '../../src/orders/read-statement-csv.ts';
import { rejected, thrownBy } from '../support/refusal.ts';

async function rowsOf(...given: Parameters<typeof readStatementCsv>) {
  const rows: object[] = [];
  for await (const row of readStatementCsv(...given)) rows.push(row);
  return rows;
}

describe('readStatementCsv', () => {
  it('reads quotes, other line breaks, a BOM, empty lines and columns in any order', async () => {
    const csv = '\uFEFFPaid;Order\r\n"15,000.50";A-1\r\n\r\n; "B ""2""" \r\n';
    const options = { columns: { id: 'Order', amount: 'Paid' }, delimiter: ';' };
    const rows = [{ id: 'A-1', amount: '15,000.50' }, { id: 'B "2"' }];
    expect(await rowsOf(csv, options)).toStrictEqual(rows);
    const chunks = [...csv].map((character) => Buffer.from(character));
    expect(await rowsOf(chunks, options)).toStrictEqual(rows);
    expect(await rowsOf(Readable.from(chunks), options)).toStrictEqual(rows);
  });

  it('reads a title in quotes after a BOM', async () => {
    expect(await rowsOf('\uFEFF"partner_order_id"\nA-1\n')).toEqual([{ id: 'A-1' }]);
  });

  it.each<[object, StatementCsvOptions | undefined]>([
    [{ id: 'A-1' }, undefined],
    [{ id: 'A-1', amount: '7' }, { columns: { amount: 'amount' } }],
    [{ id: 'A-1', hash: '0x1' }, { columns: { hash: 'hash' } }],
    [{ id: '7', hash: 'A-1' }, { columns: { id: 'amount', hash: 'partner_order_id' } }],
  ])('gives %j where the columns are named so', async (row, options) => {
    expect(await rowsOf('amount,partner_order_id,hash\n7,A-1,0x1\n', options)).toStrictEqual([row]);
  });

  it('reads bytes that split a character', async () => {
    const bytes = Buffer.from('partner_order_id\né\n');
    expect(await rowsOf([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual([{ id: 'é' }]);
  });

  it.each<[string, string | Uint8Array[]]>([
    ['Latin-1', [Buffer.from('partner_order_id\né\n', 'latin1')]],
    ['UTF-16', [Buffer.from('\uFEFFpartner_order_id\nA-1\n', 'utf16le')]],
    ['half a character at the end', [Buffer.from('partner_order_id\né').subarray(0, -1)]],
    ['a text that was decoded so', 'partner_order_id\n\ufffd\n'],
  ])('ends at a statement that is not UTF-8: %s', async (_, source) => {
    expect(await rejected(rowsOf(source))).toMatchObject({
      issues: [{ message: 'it is not UTF-8: export it as UTF-8' }],
    });
  });

  it('reads no row from a header alone', async () => {
    expect(await rowsOf('partner_order_id\n')).toEqual([]);
  });

  it.each([
    ['', 'it has no header'],
    ['Order\n1', 'it has no column "partner_order_id": its first line is "Order"'],
    ['partner_order_id,x\n1,2,secret', 'line 2 cannot be read (CSV_RECORD_INCONSISTENT_FIELDS_LENGTH)'],
    ['x,partner_order_id,partner_order_id\n1,2,3', 'it has the column "partner_order_id" twice'],
    ['partner_order_id,x\nA-1,1\n,1\n', 'row 3 has no "partner_order_id"'],
    ['partner_order_id,x\n,\n', 'row 2 has no "partner_order_id"'],
    [
      'partner_order_id;x\n1;2',
      'it has no column "partner_order_id": its first line is "partner_order_id;x" (its delimiter may be ";")',
    ],
    [
      'partner_order_id\tx\n1\t2',
      'it has no column "partner_order_id": its first line is "partner_order_id x" (its delimiter may be a tab)',
    ],
    ['partner_order_id\nA-1;secret', 'row 2 has ";", which may be its delimiter'],
    ['partner_order_id\n"secret', 'line 2 cannot be read (CSV_QUOTE_NOT_CLOSED)'],
  ])('ends at a statement that cannot be read: %j', async (csv, message) => {
    const error = await rejected(rowsOf(csv));
    expect(error).toMatchObject({ code: 'invalid_input', issues: [{ path: ['source'], message }] });
    expect(String(error)).toContain('readStatementCsv');
    expect(String(error)).not.toContain('secret');
  });

  it('names twelve titles of the header at most, in part and printable', async () => {
    const titles = Array.from({ length: 14 }, (_, index) => `title ${index + 1}`);
    const csv = ['\u202e', 'x'.repeat(50), ...titles].join(',');
    const quoted = ['\\u202e', 'x'.repeat(40), ...titles.slice(0, 10)].map((title) => `"${title}"`);
    expect(await rejected(rowsOf(csv))).toMatchObject({
      issues: [{ message: `it has no column "partner_order_id": its first line is ${quoted.join(', ')}` }],
    });
  });

  it('does not collect the rest of a file after an unclosed quote', async () => {
    let chunks = 0;
    function* endless() {
      yield 'partner_order_id\n"';
      for (; chunks < 100; chunks++) yield 'x'.repeat(65_536);
    }
    expect(await rejected(rowsOf(endless()))).toMatchObject({
      issues: [{ message: 'line 2 cannot be read (CSV_MAX_RECORD_SIZE)' }],
    });
    expect(chunks).toBeLessThan(30);
  });

  it('reads a row of half a mebibyte', async () => {
    const id = 'x'.repeat(524_288);
    expect(await rowsOf(`partner_order_id\n${id}\n`)).toEqual([{ id }]);
  });

  it('throws what the source throws', async () => {
    async function* broken() {
      yield 'partner_order_id\nA-1\n';
      throw new Error('reset');
    }
    expect(await rejected(rowsOf(broken()))).toEqual(new Error('reset'));
  });

  it.each(['its reader ends early', 'it cannot be read'])('closes the source when %s', async (when) => {
    let isClosed = false;
    async function* source() {
      try {
        yield when === 'it cannot be read' ? 'Order\nA-1\n' : 'partner_order_id\nA-1\n';
        for (;;) yield 'A-2\n';
      } finally {
        isClosed = true;
      }
    }
    const reading = async () => {
      for await (const _ of readStatementCsv(source())) break;
    };
    await reading().catch(() => {});
    await expect.poll(() => isClosed).toBe(true);
  });

  it.each<[string, object]>([
    ['columns.id', { columns: { id: 7 } }],
    ['columns.amount', { columns: { amount: '' } }],
    ['columns.hash', { columns: { hash: null } }],
    ['delimiter', { delimiter: '' }],
    ['column', { column: {} }],
  ])('refuses a wrong %s at once', (name, options) => {
    // Sound: they are wrong on purpose.
    expect(thrownBy(() => readStatementCsv('', options as never))).toMatchObject({
      ...{ code: 'invalid_option', message: expect.stringContaining(name) },
    });
  });
});
