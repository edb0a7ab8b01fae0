import type { Options } from 'tsup';

type TsupPlugin = NonNullable<Options['plugins']>[number];

/** Of each source map, what a stack trace needs: for each line of ours its file and line, once. That is a third of it. */
export const leanMaps: TsupPlugin = {
  name: 'lean-maps',
  renderChunk(_, info) {
    if (info.type !== 'chunk' || typeof info.map !== 'string') return;
    const map = JSON.parse(info.map);
    info.map = JSON.stringify({ ...map, names: [], mappings: leanMappings(map.mappings, map.sources) });
  },
};

/** True for our own sources: no user looks for a line of a bundled package. */
const isOurs = (source = '') => source.startsWith('../src/');

/** The numbers of a segment are differences to those before: of the column in its line, of the others in the file. */
export function leanMappings(mappings: string, sources: readonly string[]): string {
  const place = { source: 0, line: 0, column: 0 };
  const written = { ...place };
  const lines = mappings.split(';').map((segments) => {
    let [column, writtenColumn] = [0, 0];
    let last = '';
    const kept: string[] = [];
    for (const segment of segments === '' ? [] : segments.split(',')) {
      const [move = 0, source, line = 0, sourceColumn = 0] = readNumbers(segment);
      column += move;
      if (source !== undefined) {
        place.source += source;
        place.line += line;
        place.column += sourceColumn;
      }
      const isMapped = source !== undefined && isOurs(sources[place.source]);
      const current = isMapped ? `${place.source} ${place.line}` : '';
      if (current === last) continue;
      last = current;
      const moves = [place.source - written.source, place.line - written.line, place.column - written.column];
      kept.push(writeNumbers([column - writtenColumn, ...(isMapped ? moves : [])]));
      writtenColumn = column;
      if (isMapped) Object.assign(written, place);
    }
    return kept.join(',');
  });
  return lines.join(';').replace(/;+$/, '');
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Base64 VLQ: five bits a digit, the least first, the sign in the lowest bit; 32 says that another digit follows. */
function readNumbers(segment: string): number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const character of segment) {
    const digit = digits.indexOf(character);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit >= 32) continue;
    numbers.push(value % 2 === 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}

function writeNumbers(numbers: readonly number[]): string {
  return numbers.map(writeNumber).join('');
}

function writeNumber(number: number): string {
  let rest = number < 0 ? (-number << 1) | 1 : number << 1;
  let text = '';
  do {
    const more = rest > 31 ? 32 : 0;
    text += digits[(rest & 31) | more];
    rest >>= 5;
  } while (rest > 0);
  return text;
}
