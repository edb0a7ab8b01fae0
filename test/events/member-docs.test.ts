import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, it } from 'vitest';

/** Members of the interfaces in a file that an editor has nothing to say about. */
function undocumented(path: string): string[] {
  const source = readFileSync(new URL(`../../src/${path}`, import.meta.url), 'utf8');
  const { statements } = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const members = statements
    .filter(ts.isInterfaceDeclaration)
    .flatMap((each) => each.members.map((member) => ({ owner: each.name.text, member })));
  expect(members.length).toBeGreaterThan(10);
  return members
    .filter(({ member }) => ts.getJSDocCommentsAndTags(member).length === 0)
    .map(({ owner, member }) => `${owner}.${member.name?.getText()}`);
}

it.each(['events/event-types.ts', 'deployment/order-schema.ts'])(
  'every member has text for an editor to show: %s',
  (path) => {
    expect(undocumented(path)).toEqual([]);
  },
);
