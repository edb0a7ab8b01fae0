import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { brokenReceivers } from './broken-receivers.ts';
import { pythonReceivers } from './python-receivers.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/details/diagnostics.md'), 'utf8');

it('docs/details/diagnostics.md says which receivers each finding was tried on', () => {
  const [, table = ''] = page.split(
    '| finding | in Python | in TypeScript: a receiver that |\n|---|---|---|\n',
  );
  expect(table.split('\n\n')[0]?.split('\n')).toEqual(triedReceivers());
});

function triedReceivers(): readonly string[] {
  const python = Object.entries(pythonReceivers);
  const ids = new Set([
    ...python.flatMap(([, found]) => found),
    ...brokenReceivers.flatMap((one) => one.findings),
  ]);
  return [...ids].sort().map((id) => {
    const classes = python.filter(([, found]) => found.includes(id)).map(([name]) => name);
    const names = brokenReceivers.filter(({ findings }) => findings.includes(id)).map(({ name }) => name);
    return `| \`${id}\` | ${classes.join(', ') || '-'} | ${names.join('; ') || '-'} |`;
  });
}
