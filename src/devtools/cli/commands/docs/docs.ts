import { nearestSpelling } from '../../../../internal/nearest-name.ts';
import { defineCommand } from '../../terminal/command.ts';
import { CliError, exitCodes } from '../../terminal/context.ts';
import { arg, formatFlags, manyArgs } from '../../terminal/flags.ts';
import { openOutput } from '../../terminal/output.ts';
import { type Paint, wrapText } from '../../terminal/terminal-text.ts';
import { findPackageFolder, readPages } from './installed-pages.ts';
import { searchableNames, searchDocs } from './search-docs.ts';
import { readDeclarations } from './shipped-declarations.ts';

export default defineCommand({
  brief: 'Search the documentation, offline',
  about:
    'Prints the section that fits best, and names others: give one of these to read it. An error code, an event, a command, an option or an exported name is found by its name, a page or a section by its link, everything else by its words. Without words it prints the list of pages. Exits with 1 if nothing is found.',
  examples: [
    'partner-exchange docs outcome_unknown',
    'partner-exchange docs maxBodyBytes',
    'partner-exchange docs lost reply',
    'partner-exchange docs docs/errors.md#outcome_unknown --format json',
  ],
  json: "{ results: [{ kind: 'error' | 'event' | 'command' | 'option' | 'section' | 'page', title, source, text }] }, the best one first",
  flags: formatFlags,
  args: manyArgs(arg('words', 'A name, a link or words (default: the list of pages)')),
  async run(context, flags, ...words) {
    const output = openOutput(context, flags);
    const folder = findPackageFolder();
    const pages = readPages(folder);
    const results = searchDocs(words, { pages, declarations: () => readDeclarations(folder) });
    const [best, ...others] = results;
    if (best === undefined) {
      const near = nearestSpelling(words.join(' '), searchableNames(pages, readDeclarations(folder)));
      // The words are not repeated: a key may be among them.
      throw new CliError(
        `The documentation has nothing with these words${near === undefined ? ': use fewer or other words.' : `: did you mean ${near}?`} Without words, docs lists the pages.`,
        { exitCode: exitCodes.findings },
      );
    }
    const { isTTY, columns } = context.stdout;
    const width = isTTY && columns ? columns : Number.POSITIVE_INFINITY;
    output.result({ results }, (paint) => [
      `${paint('dim', best.source)}\n`,
      ...markdownLines(best.text, { paint, width }),
      ...(others.length === 0 ? [] : ['', paint('dim', 'See also, by `docs` and its name:')]),
      ...others.map(
        ({ source, title }) => `  ${source}${source === title ? '' : paint('dim', `  ${title}`)}`,
      ),
    ]);
    return exitCodes.ok;
  },
});

/** Markdown for a terminal: headings stand out, and sentences are not cut inside a word. */
function markdownLines(text: string, { paint, width }: { paint: Paint; width: number }): string[] {
  let isCode = false;
  return text.split('\n').map((line) => {
    if (/^ *```/.test(line)) isCode = !isCode;
    else if (!isCode && line.startsWith('#')) return paint('bold', line);
    return isCode || line.startsWith('|') ? line : wrapText(line, width);
  });
}
