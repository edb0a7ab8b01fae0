import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../tools/checks/entries.ts';

/** What readers copy: pages, examples, and the doc comments of the sources. */
const texts = globSync(
  ['README.md', 'AGENTS.md', 'docs/**/*.md', 'examples/**/*.ts', 'src/**/*.ts'],
  // Generated from the sources.
  { cwd: root, exclude: ['docs/reference/**', 'docs/errors.md'] },
).map((file) => [file, readFileSync(join(root, file), 'utf8')] as const);

/** The places that match, each with the whole match. */
function placesOf(pattern: RegExp): string[] {
  return texts.flatMap(([file, text]) => [...text.matchAll(pattern)].map(([found]) => `${file}: ${found}`));
}

describe('no page, example or doc comment', () => {
  it('returns from onUnrecognized without keeping the event', () => {
    const given = placesOf(/onUnrecognized\((?!handler\b)[^)\n]+/g);
    expect(given.length).toBeGreaterThan(3);
    expect(given.filter((place) => !/\('ignore'$|\((?:this\.)?journal\.observe$/.test(place))).toEqual([]);
  });

  it('ends a process on a signal without closeServer', () => {
    const programs = texts.flatMap(([file, text]) =>
      file.endsWith('.md')
        ? [...text.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, code = '']) => [file, code] as const)
        : [[file, text] as const],
    );
    const ending = programs.filter(([, code]) => /process\.(?:once|on)\('SIGTERM'/.test(code));
    expect(ending.length).toBeGreaterThan(2);
    // The shop's own function calls it.
    const closes = /closeServer\(|shop\.stop\(/;
    expect(ending.filter(([, code]) => !closes.test(code)).map(([file]) => file)).toEqual([]);
  });
});
