import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from './entries.ts';
import { applyBlocks, readRecipes } from './recipes.ts';

const blocks = readRecipes();
const recipes = [...Map.groupBy(blocks, ({ recipe }) => recipe)];

describe('docs/recipes.md', () => {
  it.each(recipes)('%s: each block fits this tree', (_, own) => {
    expect(() => applyBlocks(own)).not.toThrow();
  });

  it('as a whole imports files that are there; npm run check:recipes compiles it', () => {
    const changed = applyBlocks(blocks);
    expect(changed.size).toBeGreaterThan(recipes.length);
    const imported = [...changed].flatMap(([file, text]) =>
      [...text.matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(([, path = '']) => join(dirname(file), path)),
    );
    expect(imported.filter((file) => !changed.has(file) && !existsSync(join(root, file)))).toEqual([]);
  });

  it('notices a line that is gone, and a file that is there already', () => {
    const file = 'package.json';
    const gone = { recipe: 'a', file, kind: 'diff', text: '-gone\n+new\n' } as const;
    expect(() => applyBlocks([gone])).toThrow('package.json has 0 places like this:\ngone');
    expect(() => applyBlocks([{ ...gone, kind: 'new' }])).toThrow('package.json is there already.');
  });
});
