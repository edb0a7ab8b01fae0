import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../tools/checks/entries.ts';
import { findContactProblems, readContacts } from '../../tools/release/release-contacts.ts';
import { findDifferences, releaseProblems } from '../../tools/release/release-problems.ts';
import { scratchFolder } from '../support/scratch.ts';

const real = 'code.example';
const changelog = '# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-02\n\n- A change.\n';

/** A repository that can be released, after a change. */
function problemsAfter(change: (repository: ReturnType<typeof makeRepository>) => void): string[] {
  const repository = makeRepository();
  change(repository);
  return Object.values(releaseProblems).flatMap((findProblems) => findProblems(repository.folder));
}

function makeRepository() {
  const folder = scratchFolder();
  const git = (...args: string[]) => {
    const identity = ['-c', 'user.name=Tester', '-c', `user.email=tester@${real}`];
    execFileSync('git', [...identity, ...args], { cwd: folder, stdio: 'ignore' });
  };
  const commit = () => {
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '--message', 'A commit');
  };
  const repository = {
    folder,
    git,
    commit,
    write(file: string, text: string) {
      writeFileSync(join(folder, file), text);
      commit();
    },
  };
  git('init', '--quiet');
  repository.write('package.json', manifest({}));
  repository.write('package-lock.json', lock('1.2.3'));
  repository.write('CHANGELOG.md', changelog);
  repository.write('SECURITY.md', `Contact: <mailto:security@${real}>\n`);
  return repository;
}

function manifest(changed: object): string {
  return JSON.stringify({
    version: '1.2.3',
    repository: { url: `git+https://${real}/sdk.git` },
    bugs: { url: `https://${real}/sdk/issues` },
    homepage: `https://${real}/sdk`,
    ...changed,
  });
}

const lock = (version: string) => JSON.stringify({ version, packages: { '': { version } } });

describe('a release', () => {
  it('is ready, before and after it is tagged', () => {
    expect(problemsAfter(() => {})).toEqual([]);
    expect(problemsAfter(({ git }) => git('tag', 'v1.2.3'))).toEqual([]);
  });

  it('is refused while something is not committed', () => {
    const problems = problemsAfter(({ folder }) => {
      appendFileSync(join(folder, 'SECURITY.md'), 'More.');
      writeFileSync(join(folder, 'new.ts'), '');
    });
    expect(problems).toEqual(['not committed: SECURITY.md', 'not committed: new.ts']);
  });

  it('is refused when the lock file has another version', () => {
    const problem = 'package-lock.json has the version 1.2.2, package.json 1.2.3: npm install.';
    expect(problemsAfter(({ write }) => write('package-lock.json', lock('1.2.2')))).toEqual([
      problem,
      problem,
    ]);
  });

  it('is refused under the tag of another version, and when its tag is on another commit', () => {
    expect(problemsAfter(({ git }) => git('tag', 'v1.2.4'))).toEqual(['The tag v1.2.4 is not v1.2.3.']);
    const moved = problemsAfter(({ git, commit }) => {
      git('tag', 'v1.2.3');
      commit();
    });
    expect(moved).toEqual(['The tag v1.2.3 is on another commit.']);
  });

  it.each([
    ['without a section', '# Changelog\n', 'The first version in it should be "## [1.2.3] - YYYY-MM-DD".'],
    ['without a change', '## [1.2.3] - 2026-01-02\n', 'The section of the version lists nothing.'],
    [
      'with changes left over',
      changelog.replace('[Unreleased]\n', '[Unreleased]\n\n- Another.\n'),
      'It still lists changes as unreleased.',
    ],
  ])('is refused with a changelog %s', (_, text, problem) => {
    expect(problemsAfter(({ write }) => write('CHANGELOG.md', text))).toEqual([problem]);
  });

  it('is refused without a contact, and with a placeholder', () => {
    const problemsOf = (homepage: string) =>
      problemsAfter(({ write }) => write('package.json', manifest({ homepage })));
    expect(problemsOf('')).toEqual(['package.json homepage has no address.']);
    expect(problemsOf('https://maintainers.invalid')).toEqual([
      expect.stringContaining('package.json homepage has the placeholder'),
    ]);
    const problems = findContactProblems(readContacts(root));
    expect(problems.filter((problem) => problem.endsWith('has no address.'))).toEqual([]);
  });

  it('is made in CI alone, and there with its tests', () => {
    const release = (env: NodeJS.ProcessEnv, ...args: string[]) => {
      const options = { cwd: root, encoding: 'utf8', env: { ...process.env, ...env } } as const;
      const { status, stderr } = spawnSync(process.execPath, ['tools/release/release.ts', ...args], options);
      return [status, stderr.trim()];
    };
    expect(release({ CI: '' })).toEqual([
      2,
      'A version is published by .github/workflows/release.yml alone: add --dry-run.',
    ]);
    expect(release({ CI: 'true' }, '--skip-tests')).toEqual([2, '--skip-tests is for a dry run.']);
  });

  it('is refused when two builds differ, and names the file', () => {
    const folder = scratchFolder();
    const pack = (name: string, content: string) => {
      mkdirSync(join(folder, 'dist'), { recursive: true });
      writeFileSync(join(folder, 'dist', 'index.js'), content);
      const settings = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0'];
      execFileSync('tar', [...settings, '-czf', `${name}.tgz`, 'dist'], { cwd: folder });
      return join(folder, `${name}.tgz`);
    };
    const first = pack('first', 'built at 1');
    expect(findDifferences(first, pack('same', 'built at 1'))).toEqual([]);
    expect(findDifferences(first, pack('other', 'built at 2'))).toEqual([
      expect.stringMatching(/^Files .*first.tgz-files\/dist\/index.js and .*other.tgz-files.* differ$/),
    ]);
  });
});
