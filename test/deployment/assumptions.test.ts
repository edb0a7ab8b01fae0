import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { assumptions } from '../../src/deployment/assumptions.ts';

const root = new URL('../../', import.meta.url);
const ids: readonly string[] = assumptions.map(({ id }) => id);

/** Every id that an error in src/ cites, with the file it stands in. */
function cited(): { file: string; id: string }[] {
  return globSync('src/**/*.ts', { cwd: root }).flatMap((file) => {
    const source = readFileSync(new URL(file, root), 'utf8');
    const lists = [...source.matchAll(/\bassumptions: (?:[^[\]\n]*\? *)?\[([^\]]*)\]/g)].map(
      ([, list]) => list ?? '',
    );
    return lists.flatMap((list) =>
      [...list.matchAll(/'([^']+)'/g)].map(([, id]) => ({ file, id: id ?? '' })),
    );
  });
}

describe('the assumption ledger', () => {
  it('says what is assumed, and how to do otherwise', () => {
    const unsaid = assumptions.filter(
      ({ id, statement, override }) =>
        !/^[a-z]+(-[a-z]+)*$/.test(id) || !/^[a-zA-Z].*\.$/s.test(statement) || override === '',
    );
    expect(unsaid).toEqual([]);
  });

  it('has every id that an error cites', () => {
    const found = cited();
    expect(found.map(({ id }) => id)).toContain('signature-construction');
    expect(found.filter(({ id }) => !ids.includes(id))).toEqual([]);
  });
});
