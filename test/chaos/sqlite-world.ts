import { DatabaseSync } from 'node:sqlite';
import type { SqliteFault } from './faults.ts';
import type { Machine } from './machine.ts';
import { currentMachine } from './simulation.ts';

/** What the world does to SQLite. */
interface SqliteWorld {
  readonly drawFault: (machine: Machine) => SqliteFault | undefined;
  readonly stall: (machine: Machine) => void;
  readonly die: (machine: Machine, why: string) => void;
}

let world: SqliteWorld | undefined;
let isDiskFull = false;

/** How SQLite and its disk are in this scenario. */
export function simulateSqlite(simulated: SqliteWorld): void {
  world = simulated;
  isDiskFull = false;
}

export function setDisk(state: 'full' | 'free'): void {
  isDiskFull = state === 'full';
}

// Its exports cannot be replaced once a module has taken them by name; its methods can.
const { prepare } = DatabaseSync.prototype;
/** The fault of the transaction that is open: between two events none is. */
let fault: SqliteFault | undefined;

DatabaseSync.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  const run: () => ReturnType<typeof statement.run> = statement.run.bind(statement);
  const machine = currentMachine();
  if (machine === undefined) return statement;
  if (sql === 'BEGIN IMMEDIATE') {
    // The system closes the files of a dead process.
    machine.onDeath(() => {
      if (this.isOpen) this.close();
    });
    statement.run = () => {
      fault = world?.drawFault(machine);
      if (fault === 'busy') throw sqliteError('database is locked', 5);
      if (fault === 'slow') world?.stall(machine);
      return run();
    };
  }
  if (sql === 'COMMIT')
    statement.run = () => {
      if (isDiskFull || fault === 'full') throw sqliteError('database or disk is full', 13);
      if (fault === 'dies-before') return die(machine, 'before it commits');
      const result = run();
      return fault === 'dies-after' ? die(machine, 'when it has committed') : result;
    };
  return statement;
};

/** What runs of it in this very moment gets an error: nobody hears of what it makes of that. */
function die(machine: Machine, why: string): never {
  world?.die(machine, why);
  throw sqliteError('the process is dead', 10);
}

function sqliteError(message: string, errcode: number): Error {
  return Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });
}
