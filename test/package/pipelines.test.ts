import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../tools/checks/entries.ts';
import { findDockerfileProblems, findPipelineProblems, findUnpinned } from '../../tools/checks/pipelines.ts';

const workflow = (file: string) => readFileSync(join(root, '.github/workflows', file), 'utf8');

describe('the Dockerfile', () => {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const lastStage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));

  it('pleases its linter, which notices an unknown instruction and flag', () => {
    expect(findDockerfileProblems(dockerfile)).toEqual([]);
    const broken = `${dockerfile.replace('--chown=', '--chownn=')}RNU true\n`;
    expect(findDockerfileProblems(broken)).toHaveLength(2);
  });

  it('makes an image that runs as nobody, and starts no shell', () => {
    expect(lastStage).toMatch(/^USER 65532:65532$/m);
    expect(lastStage).not.toMatch(/^RUN /m);
    const commands = lastStage.match(/(?:^|\s)(?:CMD|ENTRYPOINT) .*/g) ?? [];
    expect(commands.map((command) => command.includes(' ["'))).toEqual([true, true]);
  });
});

describe('the workflows', () => {
  it('are there, and their linter has nothing to say', async () => {
    expect(globSync('*.yml', { cwd: join(root, '.github/workflows') }).sort()).toEqual([
      'ci.yml',
      'release.yml',
    ]);
    expect(await findPipelineProblems()).toEqual([]);
  });

  it('name every action by its hash; a tag, a short hash and a missing version are noticed', () => {
    const hash = '0123456789abcdef0123456789abcdef01234567';
    expect(findUnpinned(`- uses: actions/checkout@${hash} # v1.2.3`)).toEqual([]);
    const unpinned = ['a/b@v4', `a/b@${hash.slice(1)} # v1.2.3`, `a/b@${hash}`, `'a/b@${hash}' # v1.2.3`];
    expect(findUnpinned(unpinned.map((action) => `      uses: ${action}`).join('\n'))).toEqual(unpinned);
  });

  it('give the right to publish to one job alone, and know no token', () => {
    const all = [workflow('ci.yml'), workflow('release.yml')].join('\n');
    expect(all.match(/: write\b/g)).toHaveLength(1);
    expect(workflow('release.yml').split('\n  publish:\n')[1]).toContain('\n      id-token: write\n');
    expect(all).not.toMatch(/secrets\.|TOKEN/);
  });
});
