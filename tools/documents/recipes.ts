import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../checks/entries.ts';

/** A block of docs/recipes.md: a change of a file, or a new file. */
export interface Block {
  readonly recipe: string;
  readonly file: string;
  readonly kind: 'diff' | 'new';
  readonly text: string;
}

/** In their order. The last path in the paragraph before a block is its file; without one it is that of the block before. */
export function readRecipes(): Block[] {
  const page = readFileSync(join(root, 'docs/recipes.md'), 'utf8');
  const blocks: Block[] = [];
  let recipe = '';
  let file = '';
  const parts = page.matchAll(/^## (.+)$|`([\w/.-]+\.(?:ts|json|md))`|^```(diff|ts new)\n([\s\S]*?)^```$/gm);
  for (const [, heading, path, fence, text = ''] of parts) {
    if (heading !== undefined) recipe = heading;
    else if (path !== undefined) file = path;
    else blocks.push({ recipe, file, kind: fence === 'diff' ? 'diff' : 'new', text });
  }
  return blocks;
}

/** The files of this tree that blocks change or add, with their texts afterwards. Throws where a block does not fit. */
export function applyBlocks(blocks: readonly Block[]): Map<string, string> {
  const changed = new Map<string, string>();
  const isThere = (file: string) => changed.has(file) || existsSync(join(root, file));
  for (const { file, kind, text } of blocks) {
    if (kind === 'new') {
      if (isThere(file)) throw new Error(`${file} is there already.`);
      changed.set(file, text);
      continue;
    }
    const lines = text.trimEnd().split('\n');
    const side = (sign: '-' | '+') =>
      lines
        .filter((line) => !line.startsWith(sign === '-' ? '+' : '-'))
        .map((line) => `${line.slice(1)}\n`)
        .join('');
    const before = changed.get(file) ?? readFileSync(join(root, file), 'utf8');
    const places = before.split(side('-')).length - 1;
    if (places !== 1) throw new Error(`${file} has ${places} places like this:\n${side('-')}`);
    // As a function, since "$" means something in a text.
    changed.set(
      file,
      before.replace(side('-'), () => side('+')),
    );
  }
  return changed;
}
