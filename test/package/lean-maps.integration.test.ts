import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { root } from '../../tools/checks/entries.ts';
import { leanMappings } from '../../tools/lean-maps.ts';

describe('a lean source map', () => {
  it('leads from each place of a bundle to the same line of src as the whole map, and to no bundled package', async () => {
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: ['src/deployment/addresses/check-address.ts'],
      ...{ bundle: true, format: 'esm', platform: 'node', logLevel: 'silent' },
      ...{ write: false, outdir: 'dist', sourcemap: 'external' },
    });
    const textOf = (end: string) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
    const code = textOf('.js').split('\n');
    // esbuild wrote it.
    const whole = JSON.parse(textOf('.map')) as SourceMapPayload;
    const mappings = leanMappings(whole.mappings, whole.sources);
    const [before, after] = [new SourceMap(whole), new SourceMap({ ...whole, mappings, names: [] })];
    let places = 0;
    for (const [line, text] of code.entries()) {
      for (let column = 0; column < text.length; column++) {
        const expected = lineOf(before, line, column);
        if (expected === undefined || !expected.startsWith('../src/')) continue;
        expect(lineOf(after, line, column), `${line}:${column}`).toBe(expected);
        places++;
      }
    }
    expect(places).toBeGreaterThan(5_000);
    expect(mappings.length).toBeLessThan(whole.mappings.length / 3);
    const bundled = code.findIndex((text) => text.includes('function keccakP('));
    expect(lineOf(before, bundled, 20)).toContain('@noble/hashes');
    expect(lineOf(after, bundled, 20)).toBeUndefined();
    expect(readFileSync(join(root, 'tsup.config.ts'), 'utf8')).toContain('plugins: [leanMaps]');
  });
});

/** The file and line of the segment at or before a place in its line. */
function lineOf(map: SourceMap, line: number, column: number): string | undefined {
  const entry = map.findEntry(line, column);
  if (!('originalSource' in entry) || entry.generatedLine !== line || entry.originalSource === undefined)
    return undefined;
  return `${entry.originalSource}:${entry.originalLine}`;
}
