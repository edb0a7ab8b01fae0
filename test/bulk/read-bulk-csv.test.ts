import { Readable } from 'node:stream';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { BulkRow } from '../../src/bulk/bulk-rows.ts';
import { type BulkCsvOptions, type CsvSource, readBulkCsv } from '../../src/bulk/read-bulk-csv.ts';
import { refusal } from '../support/refusal.ts';
import { times } from '../support/repeat.ts';

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
    for (const end of ['\n', '\r\n', '\r']) {
      const found = await read(text.replaceAll('\n', end));
      expect(found.map(({ key }) => key)).toEqual(['2', '5', '6']);
    }
  });

  it('takes any line ending, also several in one file', async () => {
    const text = 'to_phone,message\r\n+1,one\n+2,two\r\n+3,three\r\r\n+4,four';
    const expected = ['one', 'two', 'three', 'four'].map((message, index) => ({
      key: ['2', '3', '4', '6'][index],
      to_phone: `+${index + 1}`,
      message,
    }));
    expect(await read(text)).toEqual(expected);
    expect(await read([...text])).toEqual(expected);
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

  it('makes a row with an empty value for a placeholder invalid, by its line and column', async () => {
    const text = 'to_phone,name\n+1,\n+2,Ada\n+3," "\n';
    expect(await read(text, { template: 'Dear {name}, hi.' })).toEqual([
      { key: '2', invalid: 'line 2: the column "name" is empty' },
      { key: '3', to_phone: '+2', message: 'Dear Ada, hi.' },
      { key: '4', invalid: 'line 4: the column "name" is empty' },
    ]);
  });

  it.each([
    ['Dear {name|customer}, hi.', 'Dear customer, hi.'],
    ['Dear {name | our customer}, hi.', 'Dear our customer, hi.'],
    ['Dear {name|}, hi.', 'Dear , hi.'],
    ['Dear {a|b}, hi.', 'Dear x, hi.'],
  ])('fills the default of a placeholder in: %s', async (template, message) => {
    expect(await read('to_phone,name,a|b\n+1,,x\n', { template })).toEqual([
      { key: '2', to_phone: '+1', message },
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
      message: expect.stringContaining(
        `The CSV file cannot be read: it has no column "${column}": its columns are "`,
      ),
    });
  });

  it('lists the columns that there are, as far as they fit into a line', async () => {
    const titles = Array.from({ length: 15 }, (_, index) => `Column ${index}\u001b[31m`);
    await expect(read(`${titles.join(',')}\n`)).rejects.toThrow(
      /^The CSV file cannot be read: it has no column "to_phone": its columns are "Column 0\\u001b\[31m", .*"Column… See /,
    );
  });

  it.each([';', '\t', '|'])('says that the columns are separated by %j', async (delimiter) => {
    await expect(read(['to_phone', 'message'].join(delimiter))).rejects.toThrow(
      `it has no column "to_phone", and its columns are not separated by the delimiter. Set the delimiter to ${JSON.stringify(delimiter)}.`,
    );
  });

  it('shows nothing of a customer where there is no header', async () => {
    const reading = read('+2348012345678,Adaeze\n');
    await expect(reading).rejects.toThrow(
      'its first line holds no titles, but data. Add a line of titles above it.',
    );
    await expect(reading).rejects.not.toThrow(/Adaeze|2348012345678/);
  });

  it.each<[string, string, BulkCsvOptions]>([
    ['to_phone', 'to_phone,message, to_phone\n+1,x,+2\n', {}],
    ['message', 'message,to_phone,message\nx,+1,y\n', {}],
    ['Mobile', 'Mobile,Mobile,message\n+1,+2,x\n', { columns: { to_phone: 'Mobile' } }],
    ['key', 'key,to_phone,message,key\n1,+1,x,2\n', {}],
    ['name', 'to_phone,name,name\n+1,Ada,Obi\n', { template: 'Dear {name}' }],
    ['\\u001b[31mNote', 'to_phone,message,\u001b[31mNote,\u001b[31mNote\n+1,x,,\n', {}],
  ])('says before the first row that two columns have the title %s', async (title, text, options) => {
    await expect(read(text, options)).rejects.toMatchObject({
      name: 'BulkError',
      code: 'csv_unreadable',
      message: `The CSV file cannot be read: two of its columns have the title "${title}". Give each a title of its own. See partner-exchange-sdk/docs/errors.md#csv_unreadable.`,
    });
  });

  it('takes several columns without a title, which no message can use', async () => {
    expect(await read('to_phone,,message,\n+1,,x,\n')).toMatchObject([{ to_phone: '+1', message: 'x' }]);
  });

  it('shows nothing of a customer who stands where the titles should be', async () => {
    const reading = read('+2348012345678,Lagos,Lagos\n');
    await expect(reading).rejects.toThrow('no column "to_phone"');
    await expect(reading).rejects.not.toThrow('Lagos');
  });

  it.each(['', '\n\n', 'to_phone,message,"a"b\n+1,one,x\n'])('says that %j has no header', async (text) => {
    await expect(read(text)).rejects.toMatchObject({ code: 'csv_unreadable' });
  });

  it('reports lines that cannot be read with their numbers, once each, and reads the others', async () => {
    const bad = ['+2', '+3,three,more', '+4,fo"u"r', '+5,"five" there', '+6,"six"" there"six', '+7,""seven"'];
    const text = `to_phone,message\n+1,one\n${bad.join('\n')}\n+8,"ei""ght"\n`;
    const misplaced = (line: number) => `line ${line}: a quote is in the wrong place`;
    expect(await read(text)).toEqual([
      { key: '2', to_phone: '+1', message: 'one' },
      { key: '3', invalid: 'line 3: 1 columns instead of 2' },
      { key: '4', invalid: 'line 4: 3 columns instead of 2' },
      ...[5, 6, 7, 8].map((line) => ({ key: String(line), invalid: misplaced(line) })),
      { key: '9', to_phone: '+8', message: 'ei"ght' },
    ]);
  });

  it('names all lines that an open quote has swallowed, and reads those behind them', async () => {
    const text = 'to_phone,message\n+1,"open\n+2,two\n+3,"three"\n+4,four\n';
    expect(await read(text)).toEqual([
      { key: '4', invalid: 'lines 2 to 4: a quote is in the wrong place' },
      { key: '5', to_phone: '+4', message: 'four' },
    ]);
  });

  it('takes off a byte order mark at the beginning, and nowhere else', async () => {
    const text = '\uFEFF"to_phone",message\n+1,\uFEFFone\n';
    const pieces = [text.slice(0, 23), text.slice(23)];
    expect(pieces[1]).toBe('\uFEFFone\n');
    const expected = [{ key: '2', to_phone: '+1', message: '\uFEFFone' }];
    expect(await read(pieces)).toEqual(expected);
    expect(await read(pieces.map((piece) => Buffer.from(piece)))).toEqual(expected);
  });

  it.each(['+1,', '+1,""'])(
    'reads a last line %s without a line break, whose last field is empty',
    async (line) => {
      expect(await read(`to_phone,message\n${line}`)).toEqual([{ key: '2', to_phone: '+1', message: '' }]);
    },
  );

  it('takes any number of long rows', async () => {
    const row = `+1,${'x'.repeat(1_000_000)}\n`;
    expect(await read(['to_phone,message\n', ...Array.from({ length: 3 }, () => row)])).toHaveLength(3);
  });

  it.each(['x', '"', ','])('ends at a line of %s without end, in bounded memory', async (char) => {
    function* endless() {
      yield 'to_phone,message\n+1,one\n+2,';
      for (let size = 0; size < 100; size++) yield char.repeat(1024 * 1024);
      throw new Error('The reader has taken 100 MiB.');
    }
    await expect(read(endless())).rejects.toMatchObject({
      code: 'csv_unreadable',
      message: expect.stringContaining(
        'The CSV file cannot be read: a row after line 2 is longer than 1 MiB, or a quote in it is not closed. Correct the file',
      ),
    });
  });

  it.each([
    ['in a large file', '+2,two\n'.repeat(100_000)],
    ['at its end', ''],
  ])('ends the reading at an open quote %s: the rows behind it are not lost in silence', async (_, rest) => {
    const found: BulkRow[] = [];
    const reading = (async () => {
      for await (const row of readBulkCsv(`to_phone,message\n+1,one\n+2,"open\n${rest}`)) found.push(row);
    })();
    await expect(reading).rejects.toMatchObject({
      code: 'csv_unreadable',
      message: expect.stringContaining(
        'The CSV file cannot be read: a quote that opens after line 2 is not closed. ',
      ),
    });
    expect(found.length).toBeLessThan(2);
  });

  it('reports as many lines as there are, however many are bad', async () => {
    const text = `to_phone,message\n+1,one\n${'a"b\n'.repeat(5_000)}+2,two\n`;
    const found = await read(text);
    expect(found).toHaveLength(5_002);
    expect(found.at(-1)).toEqual({ key: '5003', to_phone: '+2', message: 'two' });
  });

  it('passes on what breaks its source', async () => {
    async function* broken() {
      yield file;
      throw new Error('The disk is gone.');
    }
    await expect(read(broken())).rejects.toThrow('The disk is gone.');
  });

  it.each([{}, 5, null])('refuses a piece of the source that is %j, which would be lost', async (piece) => {
    // Sound: the point is what the types refuse.
    await expect(read([file, piece as never])).rejects.toThrow();
  });

  it('closes its source when it is left early', async () => {
    const source = Readable.from(Array.from({ length: 10_000 }, () => file));
    for await (const _ of readBulkCsv(source)) break;
    await vi.waitUntil(() => source.destroyed);
  });

  it.each([
    { delimeter: ';' },
    { delimiter: ';;' },
    { delimiter: '"' },
    { delimiter: '\n' },
    { template: '{name' },
    { template: 'a } b' },
    { columns: { phone: 'x' } },
  ])('refuses %j at once', (options) => {
    // Sound: the point is what the types refuse.
    expect(refusal(() => readBulkCsv(file, options as never))).toBe('ConfigurationError invalid_option');
  });

  it('never passes on half a character, where text is cut in the middle of one', async () => {
    const text = 'to_phone,message\n+1,"a 😀"\n';
    expect(await read(text.split(''))).toEqual([{ key: '2', invalid: 'line 2: not UTF-8' }]);
  });

  it('reports lines that are not UTF-8, and reads the others', async () => {
    const text = 'key,to_phone,message\na,+1,Adé\nb,+2,漢字\nc,+3,\uFFFD\n';
    const bytes = Buffer.from(text);
    // One in Latin-1, and half a character at the end of the file.
    const file = Buffer.concat([
      bytes,
      Buffer.from('d,+4,Adé\n', 'latin1'),
      Buffer.from('e,+5,漢').subarray(0, -1),
    ]);
    expect(await read([...file].map((byte) => Uint8Array.of(byte)))).toEqual([
      { key: 'a', to_phone: '+1', message: 'Adé' },
      { key: 'b', to_phone: '+2', message: '漢字' },
      ...[4, 5, 6].map((line) => ({ key: String(line), invalid: `line ${line}: not UTF-8` })),
    ]);
  });

  it('reads back whatever a CSV writer writes', async () => {
    const field = fc.oneof(
      // U+FFFD is refused: it stands for bytes that were no UTF-8.
      fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => text.replaceAll('\uFFFD', '?')),
      fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'a'), minLength: 1 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(field, field), { minLength: 1 }), async (pairs) => {
        const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
        const text = ['to_phone,message', ...pairs.map((pair) => pair.map(quote).join(','))].join('\n');
        const found = await read(text);
        expect(found.map((row) => 'message' in row && [row.to_phone, row.message])).toEqual(pairs);
      }),
    );
  });

  it('reads what the parser reads with its usual options, in pieces of any size, and never loses or adds a row', async () => {
    const field = fc.string({
      unit: fc.constantFrom('"', ',', '\n', '\r', '\r\n', 'a', ' ', 'é', '漢', '😀', '\0'),
      maxLength: 5,
    });
    const end = fc.constantFrom('\n', '\r\n', '\r', '\n\n');
    const row = fc.tuple(field, field, fc.boolean(), end);
    const size = fc.integer({ min: 1, max: 9 });
    await fc.assert(
      fc.asyncProperty(fc.array(row), fc.array(size, { minLength: 1 }), async (rows, sizes) => {
        const write = (text: string, isQuoted: boolean) =>
          isQuoted || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
        const lines = rows.map(
          ([one, two, isQuoted, end]) => `${write(one, isQuoted)},${write(two, isQuoted)}${end}`,
        );
        const text = `to_phone,message\n${lines.join('')}`;
        const expected = parse(text, { record_delimiter: ['\r\n', '\n', '\r'], skip_empty_lines: true });
        const found = await read(piecesOf(Buffer.from(text), sizes));
        expect(found.map((row) => 'message' in row && [row.to_phone, row.message])).toEqual(
          expected.slice(1),
        );
      }),
      { numRuns: times(150, 500) },
    );
  });
});

/** Cuts a file into pieces of these sizes, over and over. */
function piecesOf(whole: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < whole.length; at += sizes[(pieces.length - 1) % sizes.length] ?? 1) {
    pieces.push(whole.slice(at, at + (sizes[pieces.length % sizes.length] ?? 1)));
  }
  return pieces;
}
