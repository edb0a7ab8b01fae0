import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from '../checks/run.ts';
import { findContactProblems, readContacts } from './release-contacts.ts';

/** By its name: everything that a release must have and that no test run finds, each as a list of what is wrong. */
export const releaseProblems: Readonly<Record<string, (folder: string) => string[]>> = {
  'everything is committed': findUncommitted,
  'the version is in the lock file, and is that of the tag': findVersionProblems,
  'CHANGELOG.md has a dated section for the version': findChangelogProblems,
  'every contact has an address': (folder) => findContactProblems(readContacts(folder)),
};

/** What differs between two tarballs, which should have the same bytes. */
export function findDifferences(first: string, second: string): string[] {
  if (readFileSync(first).equals(readFileSync(second))) return [];
  const [one, other] = [first, second].map((tarball) => {
    const into = `${tarball}-files`;
    mkdirSync(into);
    run('tar', ['-xzf', tarball, '-C', into], { cwd: dirname(tarball) });
    return into;
  });
  // diff ends with 1 where files differ.
  const { stdout } = spawnSync('diff', ['-rq', one ?? '', other ?? ''], { encoding: 'utf8' });
  return stdout.trim() === '' ? ['Only the archive differs, no file in it.'] : stdout.trim().split('\n');
}

function findUncommitted(folder: string): string[] {
  const lines = run('git', ['status', '--porcelain'], { cwd: folder }).split('\n').filter(Boolean);
  return lines.map((line) => `not committed: ${line.slice(3)}`);
}

function findVersionProblems(folder: string): string[] {
  const { version } = readVersioned(folder, 'package.json');
  const lock = readVersioned(folder, 'package-lock.json');
  const tags = run('git', ['tag', '--points-at', 'HEAD'], { cwd: folder }).split('\n').filter(Boolean);
  const taken = run('git', ['tag', '--list', `v${version}`], { cwd: folder }).trim();
  return [
    ...(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version) ? [] : [`package.json has the version ${version}.`]),
    ...[lock.version, lock.packages?.['']?.version]
      .filter((locked) => locked !== version)
      .map((locked) => `package-lock.json has the version ${locked}, package.json ${version}: npm install.`),
    ...tags.filter((tag) => tag !== `v${version}`).map((tag) => `The tag ${tag} is not v${version}.`),
    ...(taken && !tags.includes(taken) ? [`The tag ${taken} is on another commit.`] : []),
  ];
}

function findChangelogProblems(folder: string): string[] {
  const { version } = readVersioned(folder, 'package.json');
  const sections = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8').split(/^## /m).slice(1);
  const released = sections.filter((section) => !section.startsWith('[Unreleased]'));
  const [first = ''] = released;
  const heading = `[${version}] - YYYY-MM-DD`;
  const isDated = first.startsWith(`[${version}] - `) && /^\S+ - \d{4}-\d\d-\d\d\n/.test(first);
  return [
    ...(isDated ? [] : [`The first version in it should be "## ${heading}".`]),
    ...(isDated && !/^[-*] /m.test(first) ? ['The section of the version lists nothing.'] : []),
    ...(released.length < sections.length && /^[-*] /m.test(sections[0] ?? '')
      ? ['It still lists changes as unreleased.']
      : []),
  ];
}

interface Versioned {
  readonly version: string;
  readonly packages?: Readonly<Record<string, { readonly version?: string }>>;
}

function readVersioned(folder: string, file: string): Versioned {
  // Files that npm writes.
  return JSON.parse(readFileSync(join(folder, file), 'utf8')) as Versioned;
}
