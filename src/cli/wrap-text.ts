/** Wraps a help text to the width of the terminal. Text of a second column stays in it; examples stay one line each. */
export function wrapText(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => (plainLength(line) <= width || isExample.test(line) ? [line] : wrapLine(line, width)))
    .join('\n');
}

const isExample = /^ {2}\$ /;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const colours = /\u001b\[[\d;]*m/g;

function plainLength(text: string): number {
  return text.replace(colours, '').length;
}

function wrapLine(line: string, width: number): string[] {
  const plain = line.replace(colours, '');
  const column = /^ +\S.*? {2,}(?=\S)/.exec(plain)?.[0].length ?? /^ */.exec(plain)?.[0].length ?? 0;
  // A column that leaves no room is not kept.
  const indent = ' '.repeat(column > width / 2 ? 4 : column);
  const lines: string[] = [];
  let current = '';
  // A word with the blanks before it: those between columns stay.
  for (const [, blanks = '', word = ''] of line.matchAll(/(\s*)(\S+)/g)) {
    if (current !== '' && plainLength(current + blanks + word) > width) {
      lines.push(current.trimEnd());
      current = indent + word;
    } else current += blanks + word;
  }
  return [...lines, current];
}
