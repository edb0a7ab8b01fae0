import { readdirSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { checkDatabasePath, openDatabase, readWhenFree } from '../../../src/store/sqlite/sqlite-database.ts';
import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { refusal } from '../../support/refusal.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { stubProcess } from '../stubbed-process.ts';

let path = '';

beforeEach(() => {
  path = join(scratchFolder(), 'data.sqlite');
});

function open() {
  const opened = openDatabase(path, 60_000);
  opened.database.exec('CREATE TABLE lines (line TEXT)');
  onTestFinished(() => {
    if (opened.database.isOpen) opened.close();
  });
  const insert = opened.database.prepare('INSERT INTO lines VALUES (?)');
  return {
    ...opened,
    add: (line: string) => void insert.run(line),
    /** In the order in which they were added. */
    lines: () =>
      opened.database
        .prepare('SELECT line FROM lines ORDER BY rowid')
        .all()
        .map(({ line }) => line),
  };
}

/** Until the test ends, a database is opened by this class. */
function stubSqlite(Database: typeof DatabaseSync): void {
  const { getBuiltinModule } = process;
  stubProcess({
    getBuiltinModule: (name: string) =>
      name === 'node:sqlite' ? { DatabaseSync: Database } : getBuiltinModule(name),
  });
}

/** Another program that has the file open. */
function openElsewhere(): DatabaseSync {
  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  return other;
}

const busy = Object.assign(new Error('database is locked'), { errcode: 5 });

/** Work that fails this many times as if another process had the lock. */
function busyFor(times: number, work: () => void) {
  let left = times;
  return () => {
    work();
    if (left-- > 0) throw busy;
  };
}

describe('the path of a database', () => {
  it.each(['', 7, undefined, ':memory:', 'file:data.sqlite', 'FILE:data.sqlite'])(
    'is refused: %j',
    (path) => {
      expect(refusal(() => checkDatabasePath('a store', path))).toBe('ConfigurationError invalid_option');
    },
  );

  it('is made whole, and may hold what SQLite takes for an address elsewhere', () => {
    const name = `${path} file:x`;
    expect(checkDatabasePath('a store', relative(process.cwd(), name))).toBe(name);
  });

  it.each([{ getBuiltinModule: undefined }, { getBuiltinModule: () => undefined }])(
    'is refused on a runtime without node:sqlite: %o',
    (members) => {
      stubProcess(members);
      const uses = [
        () => checkDatabasePath('a store', path),
        () => sqliteStore({ path }),
        () => sqliteInbox({ path }),
      ];
      expect(uses.map(refusal)).toEqual(uses.map(() => 'ConfigurationError runtime_too_old'));
    },
  );
});

describe('a database', () => {
  it.each([
    ['waits for no other process for long with the event loop held up', 'busy_timeout', 20],
    ['can be read while another process writes', 'journal_mode', 'wal'],
    ['has a change on disk when it is committed', 'synchronous', 2],
    ['leaves nothing deleted in freed pages', 'secure_delete', 1],
    ['keeps values out of temporary files', 'temp_store', 2],
    ['seldom waits for its -wal to be moved', 'wal_autocheckpoint', 4_000],
  ])('%s', (_, pragma, value) => {
    expect(Object.values(open().database.prepare(`PRAGMA ${pragma}`).get() ?? {})).toEqual([value]);
  });

  it.skipIf(process.platform !== 'linux')('does not stay open if it cannot be used', () => {
    writeFileSync(path, 'This is no database, but a text of some length. '.repeat(40), { mode: 0o600 });
    expect(() => openDatabase(path, 1_000)).toThrow('not a database');
    const held = readdirSync('/proc/self/fd').filter((name) => {
      try {
        return readlinkSync(`/proc/self/fd/${name}`).startsWith(path);
      } catch {
        return false;
      }
    });
    expect(held).toEqual([]);
  });

  it('is refused if its file was replaced between the check of it and its opening', () => {
    class LateDatabase extends DatabaseSync {
      constructor(name: string) {
        // Moved, not deleted: a new file could get the number of a deleted one.
        renameSync(name, `${name}.checked`);
        super(name);
      }
    }
    stubSqlite(LateDatabase);
    expect(() => openDatabase(path, 1_000)).toThrow('deleted or replaced');
  });

  it('leaves nothing in its -wal when it is closed, while another program has it open', async () => {
    const { write, add, close } = open();
    openElsewhere().exec('SELECT * FROM partner_records');
    await write(() => add('a'));
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    close();
    expect(statSync(`${path}-wal`).size).toBe(0);
  });

  it('can be closed when its file was deleted', () => {
    const { close, database } = open();
    rmSync(path);
    close();
    expect(database.isOpen).toBe(false);
  });
});

describe('writes of one turn', () => {
  it('are made in one transaction, in order', async () => {
    const { write, add, lines } = open();
    const seen: unknown[] = [];
    const other = openElsewhere();
    const count = () => other.prepare('SELECT count(*) AS number FROM lines').get()?.number;
    const results = await Promise.all(
      ['a', 'b', 'c'].map((line) =>
        write(() => {
          add(line);
          seen.push(count());
          return line;
        }),
      ),
    );
    expect(results).toEqual(['a', 'b', 'c']);
    expect(seen).toEqual([0, 0, 0]);
    expect(lines()).toEqual(['a', 'b', 'c']);
    expect(count()).toBe(3);
  });

  it('begin no further transaction', async () => {
    let begun = 0;
    class CountedDatabase extends DatabaseSync {
      override prepare(sql: string) {
        const statement = super.prepare(sql);
        const run = statement.run.bind(statement);
        if (sql === 'BEGIN IMMEDIATE')
          statement.run = () => {
            begun++;
            return run();
          };
        return statement;
      }
    }
    stubSqlite(CountedDatabase);
    const { write, add } = open();
    await Promise.all(['a', 'b', 'c'].map((line) => write(() => add(line))));
    for (let turns = 0; turns < 3; turns++) await nextTurn();
    expect(begun).toBe(1);
  });

  it('are rejected alone if they throw', async () => {
    const { write, add, lines } = open();
    const failure = new Error('no');
    const ends = await Promise.allSettled([
      write(() => add('a')),
      write(() => {
        add('b');
        throw failure;
      }),
      write(() => add('c')),
    ]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(ends[1]).toMatchObject({ reason: failure });
    expect(lines()).toEqual(['a', 'c']);
  });

  it('that have no room in a full file keep the others not out', async () => {
    const { write, add, lines, database } = open();
    const { page_count: pages } = database.prepare('PRAGMA page_count').get() ?? {};
    database.exec(`PRAGMA max_page_count = ${Number(pages) + 1}`);
    const ends = await Promise.allSettled([
      write(() => add('a')),
      write(() => add('b'.repeat(100_000))),
      write(() => add('c')),
    ]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(ends[1]).toMatchObject({ reason: { errcode: 13 } });
    expect(lines()).toEqual(['a', 'c']);
  });

  it('come before the writes that they ask for, also when they have to wait', async () => {
    const { write, add, lines } = open();
    const later: Promise<void>[] = [];
    let asked = false;
    await write(
      busyFor(1, () => {
        add('a');
        if (!asked) later.push(write(() => add('b')));
        asked = true;
      }),
    );
    await Promise.all(later);
    expect(lines()).toEqual(['a', 'b']);
  });

  it('keep their order if one has to wait while they run one by one', async () => {
    const { write, add, lines } = open();
    let runs = 0;
    const ends = await Promise.allSettled([
      write(() => {
        add('a');
        if (++runs === 2) throw busy;
      }),
      write(() => {
        throw new Error('no');
      }),
      write(() => add('c')),
    ]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(lines()).toEqual(['a', 'c']);
  });

  it('are not run again once they are committed, though the file is gone', async () => {
    const { write, add } = open();
    rmSync(path);
    const work = vi.fn(() => add('a'));
    const ends = await Promise.allSettled([write(work), write(work)]);
    for (const end of ends)
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'store_failed' } });
    expect(work).toHaveBeenCalledTimes(2);
  });

  it('leave the event loop to others while they wait for another process', async () => {
    const { write, add } = open();
    let tries = 0;
    let turns = 0;
    let isWaiting = true;
    const countTurns = () => {
      turns++;
      if (isWaiting) setImmediate(countTurns);
    };
    countTurns();
    await write(
      busyFor(9, () => {
        tries++;
        add('a');
      }),
    );
    isWaiting = false;
    expect(tries).toBe(10);
    // Without a wait there is one turn for each.
    expect(turns).toBeGreaterThan(3 * tries);
  });

  it('are each rejected when the database is closed', async () => {
    const { write, add, close } = open();
    close();
    const ends = await Promise.allSettled([write(() => add('a')), write(() => add('b'))]);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

describe('a read', () => {
  it('that fails for another reason than a lock is not repeated', async () => {
    const failure = Object.assign(new Error('no such table'), { errcode: 1 });
    const read = vi.fn(() => {
      throw failure;
    });
    await expect(readWhenFree(read, 60_000)).rejects.toBe(failure);
    expect(read).toHaveBeenCalledTimes(1);
  });
});
