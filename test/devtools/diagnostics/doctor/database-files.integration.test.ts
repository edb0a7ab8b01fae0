import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { judgeSpace, judgeSync } from '../../../../src/devtools/diagnostics/doctor/checks/database-files.ts';
import { sqliteInbox } from '../../../../src/inbox/sqlite/sqlite-inbox.ts';
import { examined } from './examined.ts';

const mb = 1024 * 1024;

/** The disk of a busy machine may be as slow as one that is worth a warning: `judgeSync` has its own tests. */
const inOrder = (id: string) => (id === 'inbox-fsync' ? expect.toBeOneOf(['ok', 'warn']) : 'ok');

describe('the doctor says of the files of an inbox', () => {
  it('that they are in order, and leaves the folder as it was', async () => {
    const { folder, file } = await inboxFile();
    const before = readdirSync(folder);
    for (const id of ['inbox-rights', 'inbox-space', 'inbox-fsync', 'inbox-opens']) {
      expect(await examined(id, { inboxFiles: [file] })).toMatchObject({ id, status: inOrder(id) });
    }
    expect(readdirSync(folder)).toEqual(before);
  });

  it('the same while an inbox has them open', async () => {
    const { folder, file } = emptyFolder();
    const inbox = sqliteInbox({ path: file });
    const before = readdirSync(folder).sort();
    for (const id of ['inbox-rights', 'inbox-fsync', 'inbox-opens']) {
      expect(await examined(id, { inboxFiles: [file] })).toMatchObject({ id, status: inOrder(id) });
    }
    expect(readdirSync(folder).sort()).toEqual(before);
    await inbox.stop();
  });

  it('that there are none', async () => {
    expect(await examined('inbox-rights')).toMatchObject({ status: 'skip' });
    expect(await examined('store-rights', { inboxFiles: ['x'] })).toMatchObject({ status: 'skip' });
  });

  it('that others may read one of several', async () => {
    const { file } = await inboxFile();
    const { file: other } = await inboxFile();
    chmodSync(other, 0o640);
    const check = await examined('store-rights', { storeFiles: [file, other] });
    expect(check).toMatchObject({ status: 'fail', found: `Other users may read ${other}.` });
  });

  it('that others may read what lies beside it', async () => {
    const { file } = await inboxFile();
    writeFileSync(`${file}-wal`, '');
    chmodSync(`${file}-wal`, 0o604);
    const check = await examined('inbox-rights', { inboxFiles: [file] });
    expect(check).toMatchObject({ status: 'fail', found: expect.stringContaining(`${file}-wal`) });
  });

  it('that it belongs to another user', async ({ skip }) => {
    if (process.getuid?.() !== 0) return skip('Only root can give a file away.');
    const { file } = await inboxFile();
    chownSync(file, 12_345, 12_345);
    const check = await examined('inbox-rights', { inboxFiles: [file] });
    expect(check).toMatchObject({
      status: 'warn',
      found: expect.stringContaining('belongs to the user 12345'),
    });
  });

  it('that it is a folder', async () => {
    const { folder } = emptyFolder();
    expect(await examined('inbox-rights', { inboxFiles: [folder] })).toMatchObject({ status: 'fail' });
  });

  it('that it is not there yet, in a folder that is', async () => {
    const { file } = emptyFolder();
    for (const id of ['inbox-rights', 'inbox-opens']) {
      const check = await examined(id, { inboxFiles: [file] });
      expect(check).toMatchObject({ status: 'skip', found: expect.stringMatching(/can be made/) });
    }
  });

  it('that it cannot be made', async () => {
    const { folder } = emptyFolder();
    const file = join(folder, 'missing', 'inbox.db');
    expect(await examined('inbox-rights', { inboxFiles: [file] })).toMatchObject({ status: 'fail' });
  });

  it('that nothing can be written beside it', async () => {
    const { file } = await inboxFile();
    const inside = join(file, 'inbox.db');
    const check = await examined('inbox-fsync', { inboxFiles: [inside] });
    expect(check).toMatchObject({ status: 'fail', found: expect.stringContaining('ENOTDIR') });
  });

  it('that it is no database', async () => {
    const { file } = emptyFolder();
    writeFileSync(file, 'not a database, but long enough for a header of one'.repeat(100));
    const check = await examined('inbox-opens', { inboxFiles: [file] });
    expect(check).toMatchObject({ status: 'fail', found: expect.stringMatching(/cannot be opened/) });
  });

  it('that its log is large', async () => {
    const { file } = emptyFolder();
    const database = new DatabaseSync(file);
    database.exec('CREATE TABLE one (value)');
    database.close();
    writeFileSync(`${file}-wal`, '');
    truncateSync(`${file}-wal`, 300 * mb);
    const check = await examined('inbox-opens', { inboxFiles: [file] });
    expect(check).toMatchObject({ status: 'warn', found: expect.stringMatching(/-wal .* has 300 MB/) });
  });

  it.each([
    [10 * mb, 'broken'],
    [100 * mb, 'weak'],
    [10_000 * mb, 'ok'],
  ])('that there are %d bytes of free space: %s', (free, verdict) => {
    expect(judgeSpace('inbox.db', free).verdict).toBe(verdict);
  });

  it.each([
    ['a fast disk', { took: 2, fileSystem: 0xef53 }, 'ok'],
    ['a slow disk', { took: 300, fileSystem: 0xef53 }, 'weak'],
    ['NFS', { took: 2, fileSystem: 0x6969 }, 'weak'],
    ['SMB 2, whose number does not fit into 32 signed bits', { took: 2, fileSystem: -28_095_166 }, 'weak'],
  ])('%s', (_, disk, verdict) => {
    expect(judgeSync('inbox.db', disk).verdict).toBe(verdict);
  });
});

function emptyFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'pex doctor 100%25 #1 '));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return { folder, file: join(folder, 'inbox.db') };
}

/** The file of an inbox that has been stopped. */
async function inboxFile() {
  const { folder, file } = emptyFolder();
  await sqliteInbox({ path: file }).stop();
  return { folder, file };
}
