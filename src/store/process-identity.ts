import { codeOf } from '../errors/errors.ts';
import { isWholeProcess } from '../internal/runtime.ts';

/** A process, as a lock or a lease in a file or a record names it. */
export interface ProcessIdentity {
  /** The space of process IDs: containers can share a host name, but not their process IDs. */
  readonly space: string;
  readonly pid: number;
  /** When it started, in any unit: process IDs are reused. Absent where the system does not tell. */
  readonly startedAt?: string | undefined;
}

export type ProcessView = ReturnType<typeof viewProcesses>;

/**
 * This process, and what it can tell about others that share a store with it.
 *
 * @param where `machine`: all processes that share the store run on this machine. `anywhere`: perhaps not; then only Linux
 *   tells, since elsewhere two machines may have one name
 */
export function viewProcesses(where: 'machine' | 'anywhere') {
  let known: ProcessIdentity | undefined;
  /** `undefined` where no process stays, as on Workers. */
  const self = (): ProcessIdentity | undefined => {
    if (known === undefined && isWholeProcess()) known = thisProcess();
    return known;
  };
  const canTell = where === 'machine' || process.platform === 'linux';
  return {
    self,
    /** Whether it has certainly ended. */
    hasEnded(other: ProcessIdentity): boolean {
      const own = canTell ? self() : undefined;
      return own !== undefined && hasEnded(other, own);
    },
  };
}

export function thisProcess(): ProcessIdentity {
  const { pid } = process;
  const startedAt = startOf('self', pid);
  return { space: processSpace(), pid, ...(startedAt !== undefined && { startedAt }) };
}

/** False also if this process cannot tell. */
function hasEnded(other: ProcessIdentity, self: ProcessIdentity): boolean {
  if (other.space !== self.space) return false;
  if (!isAlive(other.pid)) return true;
  // If /proc does not show our own start, it may be that of another namespace.
  if (other.startedAt === undefined || self.startedAt === undefined) return false;
  const startedAt = startOf(other.pid, other.pid);
  return startedAt !== undefined && startedAt !== other.startedAt;
}

/** On Linux the boot of the machine and the PID namespace. Elsewhere containers run on machines of their own. */
function processSpace(): string {
  const { fs, os } = { fs: process.getBuiltinModule('node:fs'), os: process.getBuiltinModule('node:os') };
  if (process.platform === 'darwin' || process.platform === 'win32') return `host ${os.hostname()}`;
  try {
    const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${fs.readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    // Unique, so that no other process counts as one of this space.
    return crypto.randomUUID();
  }
}

/** In clock ticks since boot: field 22 of its `stat`, whose second field may hold blanks. */
function startOf(name: number | 'self', pid: number): string | undefined {
  try {
    const text = process.getBuiltinModule('node:fs').readFileSync(`/proc/${name}/stat`, 'utf8');
    if (!text.startsWith(`${pid} `)) return undefined;
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    // Signal 0 is not sent; it only asks.
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}
