import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BulkRow } from '../../src/bulk/bulk-row.ts';
import { type BulkCsvOptions, type CsvSource, readBulkCsv } from '../../src/bulk/read-bulk-csv.ts';
import { refusal } from '../errors/refusal.ts';

async function read(source: CsvSource, options?: BulkCsvOptions): Promise<BulkRow[]> {
  const rows = [];
  for await (const row of readBulkCsv(source, options)) rows.push(row);
  return rows;
}

const file =
  'key,to_phone,message\r\na,+2348012345000,Hello\r\nb,+2348012345001,"Two, with ""quotes""\nand a line"\r\n';
const rows = [
  { key: 'a', to_phone: '+2348012345000', message: 'Hello' },
  { key: 'b', to_phone: '+2348012345001', message: 'Two, with "quotes"\nand a line' },
];

describe('readBulkCsv', () => {
  it.each<[string, () => CsvSource]>([
    ['text', () => file],
    ['text with a byte order mark', () => `\uFEFF${file}`],
    ['bytes in pieces', () => Readable.from([...Buffer.from(file)].map((byte) => Uint8Array.of(byte)))],
    ['a web stream', () => new Blob([file]).stream()],
    ['a generator', () => file.match(/[\s\S]{1,7}/g) ?? []],
  ])('reads %s', async (_, source) => {
    expect(await read(source())).toEqual(rows);
  });

  it('numbers rows by their line when there is no key', async () => {
    const text = 'to_phone,message\n+1,one\n\n+2,"two\nlines"\n+3,three\n';
    expect((await read(text)).map(({ key }) => key)).toEqual(['2', '5', '6']);
  });

  it('takes other columns and another delimiter', async () => {
    const text = 'Id; Mobile ;Text\n7;+1;Hello\n';
    const columns = { to_phone: 'Mobile', message: 'Text', key: 'Id' };
    expect(await read(text, { columns, delimiter: ';' })).toEqual([
      { key: '7', to_phone: '+1', message: 'Hello' },
    ]);
  });

  it('fills a template with the columns as they are', async () => {
    const text = 'to_phone,name,First name\n+1,{name},A{{B\n';
    const template = '{{Dear}} {First name}, {name}!';
    expect(await read(text, { template })).toEqual([
      { key: '2', to_phone: '+1', message: '{Dear} A{{B, {name}!' },
    ]);
  });

  it.each<[string, string, BulkCsvOptions]>([
    ['to_phone', 'phone,message\n+1,x\n', {}],
    ['message', 'to_phone,text\n+1,x\n', {}],
    ['Mobile', 'to_phone,message\n+1,x\n', { columns: { to_phone: 'Mobile' } }],
    ['ref', 'to_phone,message\n+1,x\n', { columns: { key: 'ref' } }],
    ['name', 'to_phone\n+1\n', { template: 'Dear {name}' }],
  ])('says before the first row that column %s is missing', async (column, text, options) => {
    await expect(read(text, options)).rejects.toMatchObject({
      name: 'BulkError',
      code: 'csv_unreadable',
      message: `The CSV file cannot be read: it has no column "${column}".`,
    });
  });

  it.each(['', '\n\n', 'to_pho"ne,message\n+1,one\n'])('says that %j has no header', async (text) => {
    await expect(read(text)).rejects.toMatchObject({ code: 'csv_unreadable' });
  });

  it('reports lines that cannot be read with their numbers, and reads the others', async () => {
    const text = 'to_phone,message\n+1,one\n+2\n+3,three,more\n+4,fo"ur\n+5,five\n';
    const read5 = await read(text);
    expect(read5.filter((row) => 'invalid' in row)).toEqual([
      { key: '3', invalid: 'line 3 has 1 columns instead of 2' },
      { key: '4', invalid: 'line 4 has 3 columns instead of 2' },
      { key: '5', invalid: expect.stringMatching(/^line 5 is not CSV: /) },
    ]);
    expect(read5.filter((row) => 'message' in row).map(({ key }) => key)).toEqual(['2', '6']);
  });

  it.each([
    ['in a large file', '+2,two\n'.repeat(100_000)],
    ['at its end', ''],
  ])('an open quote %s ends the reading: the rows behind it are not lost in silence', async (_, rest) => {
    const found: BulkRow[] = [];
    const reading = (async () => {
      for await (const row of readBulkCsv(`to_phone,message\n+1,one\n+2,"open\n${rest}`)) found.push(row);
    })();
    await expect(reading).rejects.toMatchObject({
      code: 'csv_unreadable',
      message: 'The CSV file cannot be read: a quote that opens after line 2 is not closed.',
    });
    expect(found.length).toBeLessThan(2);
  });

  it('gives a file up that is not CSV for a thousand lines', async () => {
    const text = `to_phone,message\n+1,one\n${'a"b\n'.repeat(100_000)}`;
    await expect(read(text)).rejects.toMatchObject({
      code: 'csv_unreadable',
      message: 'The CSV file cannot be read: more than 1000 lines in a row are not CSV.',
    });
  });

  it('passes on what breaks its source', async () => {
    async function* broken() {
      yield file;
      throw new Error('The disk is gone.');
    }
    await expect(read(broken())).rejects.toThrow('The disk is gone.');
  });

  it('closes its source when it is left early', async () => {
    const source = Readable.from(Array.from({ length: 10_000 }, () => file));
    for await (const _ of readBulkCsv(source)) break;
    expect(source.destroyed).toBe(true);
  });

  it.each([
    { delimeter: ';' },
    { delimiter: ';;' },
    { template: '{name' },
    { template: 'a } b' },
    { columns: { phone: 'x' } },
  ])('refuses %j at once', (options) => {
    // Sound: the point is what the types refuse.
    expect(refusal(() => readBulkCsv(file, options as never))).toBe('ConfigurationError invalid_option');
  });

  it('reads back whatever a CSV writer writes', async () => {
    const field = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/[\r\n]/.test(text));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(field, field), { minLength: 1 }), async (pairs) => {
        const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
        const text = ['to_phone,message', ...pairs.map((pair) => pair.map(quote).join(','))].join('\n');
        const found = await read(text);
        expect(found.map((row) => 'message' in row && [row.to_phone, row.message])).toEqual(pairs);
      }),
    );
  });
});
