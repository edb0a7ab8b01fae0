import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../tools/checks/entries.ts';
import { applyBlocks, readRecipes } from '../../tools/documents/recipes.ts';

const blocks = readRecipes();
const recipes = [...Map.groupBy(blocks, ({ recipe }) => recipe)];

describe('docs/recipes.md', () => {
  it.each(recipes)('%s: each block fits this tree', (_, own) => {
    expect(() => applyBlocks(own)).not.toThrow();
  });

  it('as a whole imports names that there are; npm run check:recipes compiles it', () => {
    const changed = applyBlocks(blocks);
    expect(changed.size).toBeGreaterThan(recipes.length);
    expect([...changed].flatMap(([file, text]) => missingNames(file, text, changed))).toEqual([]);
  });

  it('notices a line that is gone, and a file that is there already', () => {
    const file = 'package.json';
    const gone = { recipe: 'a', file, kind: 'diff', text: '-gone\n+new\n' } as const;
    expect(() => applyBlocks([gone])).toThrow('package.json has 0 places like this:\ngone');
    expect(() => applyBlocks([{ ...gone, kind: 'new' }])).toThrow('package.json is there already.');
  });
});

/** The names that a file imports from another one, which does not export them. */
function missingNames(file: string, text: string, changed: ReadonlyMap<string, string>): string[] {
  const imports = text.matchAll(/^import (?:type )?\{([^}]+)\} from '(\.[^']+\.tsx?)';$/gm);
  return [...imports].flatMap(([, list = '', path = '']) => {
    const target = join(dirname(file), path);
    const there =
      changed.get(target) ?? (existsSync(join(root, target)) ? readFileSync(join(root, target), 'utf8') : '');
    const names = list.split(',').flatMap((each) => /^(?:type )?(\w+)/.exec(each.trim())?.[1] ?? []);
    return names
      .filter((name) => !new RegExp(`^export (?:[a-z* ]+|(?:type )?\\{[^}]*)\\b${name}\\b`, 'm').test(there))
      .map((name) => `${file}: ${name} of ${target}`);
  });
}
