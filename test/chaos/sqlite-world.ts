import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Machine } from './machine.ts';
import { currentMachine } from './simulation.ts';

/** What can happen to a transaction of SQLite. */
export const sqliteFaults = {
  busy: 'another program has the file locked',
  full: 'the disk is full',
} as const;

export type SqliteFault = keyof typeof sqliteFaults;

type DrawFault = (machine: Machine) => SqliteFault | undefined;

let drawFault: DrawFault = () => undefined;
/** Bytes left on the simulated disk. */
let freeBytes = 2 ** 40;

/** How SQLite and its disk are in this scenario. */
export function simulateSqlite(draw: DrawFault): void {
  drawFault = draw;
  freeBytes = 2 ** 40;
}

export function setDisk(state: 'full' | 'free'): void {
  freeBytes = state === 'full' ? 1024 * 1024 : 2 ** 40;
}

const require = createRequire(import.meta.url);
// Sound: these are the modules themselves, whose members can be replaced.
const sqlite = require('node:sqlite') as { DatabaseSync: typeof DatabaseSync };
const fs = require('node:fs') as { statfsSync: unknown };

/** The system closes the files of a dead process. Its transactions are over: between two events none is open. */
class WorldDatabase extends sqlite.DatabaseSync {
  constructor(...given: ConstructorParameters<typeof DatabaseSync>) {
    super(...given);
    currentMachine()?.onDeath(() => {
      if (this.isOpen) this.close();
    });
  }

  override prepare(sql: string): StatementSync {
    const statement = super.prepare(sql);
    if (sql !== 'BEGIN IMMEDIATE') return statement;
    const begin: () => ReturnType<StatementSync['run']> = statement.run.bind(statement);
    // BEGIN has no parameters.
    statement.run = () => {
      const machine = currentMachine();
      const fault = machine?.isAlive ? drawFault(machine) : undefined;
      if (fault === 'busy') throw Object.assign(new Error('database is locked'), { errcode: 5 });
      if (fault === 'full') throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
      return begin();
    };
    return statement;
  }
}

sqlite.DatabaseSync = WorldDatabase;
fs.statfsSync = () => ({ bavail: Math.floor(freeBytes / 4096), bsize: 4096, blocks: 2 ** 30 });
syncBuiltinESMExports();
