import { expect, it } from 'vitest';
import { CliError } from '../../../src/devtools/cli/terminal/context.ts';
import { describeFailure } from '../../../src/devtools/cli/terminal/failure-line.ts';

it('a folder that is missing, and a file system that is read-only, are said of any file', () => {
  const failure = (code: string, path: string) =>
    describeFailure(Object.assign(new Error(`${code}: x, open '${path}'`), { code, path })).message;
  expect(failure('ENOENT', '/no/such/folder/reply.json')).toBe(
    'There is no folder /no/such/folder: make it, or check the path.',
  );
  expect(failure('ENOENT', 'reply.json')).toBe('There is no reply.json: check the path.');
  expect(failure('EROFS', '/ro/reply.json')).toBe(
    '/ro/reply.json cannot be written, its file system is read-only: name another one.',
  );
  expect(describeFailure(new CliError('x'))).toMatchObject({ message: 'x' });
});
