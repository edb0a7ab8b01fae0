import { describe, expect, it } from 'vitest';
import { applyBlocks, readRecipes } from './recipes.ts';

const blocks = readRecipes();
const recipes = [...Map.groupBy(blocks, ({ recipe }) => recipe)];

describe('docs/recipes.md', () => {
  it.each(recipes)('%s: each block fits this tree', (_, own) => {
    expect(() => applyBlocks(own)).not.toThrow();
  });

  it('can be followed as a whole: npm run check:recipes compiles it', () => {
    expect(applyBlocks(blocks).size).toBeGreaterThan(recipes.length);
  });

  it('notices a line that is gone, and a file that is there already', () => {
    const file = 'package.json';
    const gone = { recipe: 'a', file, kind: 'diff', text: '-gone\n+new\n' } as const;
    expect(() => applyBlocks([gone])).toThrow('package.json has 0 places like this:\ngone');
    expect(() => applyBlocks([{ ...gone, kind: 'new' }])).toThrow('package.json is there already.');
  });
});
