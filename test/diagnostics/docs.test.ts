import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { attackCases } from '../../src/diagnostics/attack/case-table.ts';
import type { Cause } from '../../src/diagnostics/attack/cause.ts';
import { attackCauses } from '../../src/diagnostics/attack/findings.ts';
import { doctorChecks } from '../../src/diagnostics/doctor/run-doctor.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/details/diagnostics.md'), 'utf8');

it('docs/details/diagnostics.md lists every case of the attack, and no other', () => {
  const [, table = ''] = page.split('| about | ids |\n|---|---|\n');
  const listed = [...(table.split('\n\n')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, id]) => id);
  const ids = ['authentic', ...attackCases.map(({ id }) => id)];
  expect(new Set(ids).size).toBe(ids.length);
  expect(listed.sort()).toEqual(ids.sort());
});

it('docs/details/diagnostics.md says of every finding what the receiver does', () => {
  const [, table = ''] = page.split('| id | the receiver |\n|---|---|\n');
  // Without a summary it has the words and the id of a case.
  const rows = Object.entries<Cause>(attackCauses).flatMap(([id, { summary }]) =>
    summary === undefined ? [] : [`| \`${id}\` | ${summary} |`],
  );
  expect(table.split('\n\n')[0]?.split('\n')).toEqual(rows);
});

it('docs/details/diagnostics.md lists every check of the doctor', () => {
  const alike: Record<string, string> = { staging: 'onboarding', messenger: 'onboarding', store: 'inbox' };
  const unlisted = doctorChecks
    .map(({ id }) => id.replace(/^(staging|messenger|store)(?=-)/, (kind) => alike[kind] ?? kind))
    .filter((id) => !page.includes(`\`${id}\``));
  expect(unlisted).toEqual([]);
});
