import { describe, expect, it, vi } from 'vitest';
import { viewProcesses } from '../../src/store/process-identity.ts';
import { stubFileSystem, systemError } from './stubbed-process.ts';

const ownPid = 7;
const boot = { '/proc/sys/kernel/random/boot_id': 'boot-1\n' };

/** A line of `/proc/<pid>/stat`: the start is its field 22. */
const stat = (pid: number, startedAt: number) =>
  `${pid} (a) b) S ${Array.from({ length: 18 }, (_, field) => field + 4).join(' ')} ${startedAt} 23 24\n`;

interface Machine {
  readonly platform?: string;
  readonly files?: Readonly<Record<string, string | undefined>>;
  readonly namespace?: string;
  /** How `kill` fails for a process; every other one lives. */
  readonly kill?: Readonly<Record<number, string>>;
}

/** Makes this process the one of ID 7 on a machine. */
function stubMachine({ platform = 'linux', files = {}, namespace, kill = {} }: Machine): void {
  const all: Readonly<Record<string, string | undefined>> = {
    ...boot,
    '/proc/self/stat': stat(ownPid, 500),
    ...files,
  };
  const missing = () => {
    throw systemError('ENOENT');
  };
  stubFileSystem(
    {
      readFileSync: (path: string, encoding: string) => (encoding === 'utf8' && all[path]) || missing(),
      readlinkSync: (path: string) => (path === '/proc/self/ns/pid' && namespace) || missing(),
    },
    {
      pid: ownPid,
      platform,
      kill(pid: number, signal: unknown) {
        if (signal !== 0) throw new Error('This would end the process.');
        if (kill[pid] !== undefined) throw systemError(kill[pid]);
      },
    },
  );
}

const space = 'boot-1 pid:[1]';
const self = { space, pid: ownPid, startedAt: '500' };

describe('a view of the processes', () => {
  it('names this process by its boot, namespace, ID and start on Linux', () => {
    stubMachine({ namespace: 'pid:[1]' });
    expect(viewProcesses('anywhere').self()).toEqual(self);
  });

  it.each<[string, Machine]>([
    ['that is not in /proc', { files: { '/proc/self/stat': undefined } }],
    ['that has another ID in /proc, of another namespace', { files: { '/proc/self/stat': stat(71, 500) } }],
  ])('names no start of a process %s', (_, machine) => {
    stubMachine({ ...machine, namespace: 'pid:[1]' });
    expect(viewProcesses('anywhere').self()).toEqual({ space, pid: ownPid });
  });

  it('takes each view for a space of its own where the system names none', () => {
    stubMachine({});
    const [one, another] = [viewProcesses('machine'), viewProcesses('machine')];
    expect(one.self()?.space).toBe(one.self()?.space);
    expect(one.self()?.space).toMatch(/^.{36}$/);
    expect(one.self()?.space).not.toBe(another.self()?.space);
  });

  it.each(['darwin', 'win32'])('names the host on %s', (platform) => {
    stubMachine({ platform, namespace: 'pid:[1]' });
    const { hostname } = process.getBuiltinModule('node:os');
    expect(viewProcesses('machine').self()?.space).toBe(`host ${hostname()}`);
  });

  const other = { space, pid: 8, startedAt: '600' };
  const same = { '/proc/8/stat': stat(8, 600) };
  it.each<[boolean, string, typeof other | Omit<typeof other, 'startedAt'>, Machine]>([
    [true, 'has no process of this ID', other, { kill: { 8: 'ESRCH' } }],
    [true, 'has another process of this ID', other, { files: { '/proc/8/stat': stat(8, 601) } }],
    [false, 'has it', other, { files: same }],
    [false, 'does not let us signal it', other, { files: same, kill: { 8: 'EPERM' } }],
    [false, 'is another one', { ...other, space: 'boot-2' }, { kill: { 8: 'ESRCH' } }],
    [false, 'does not show its start', other, {}],
    [
      false,
      'shows the start of another ID there, as another namespace does',
      other,
      { files: { '/proc/8/stat': stat(9, 601) } },
    ],
    [
      false,
      'showed no start when it was named',
      { space, pid: 8 },
      { files: { '/proc/8/stat': stat(8, 601) } },
    ],
    [
      false,
      'does not show our own start',
      other,
      { files: { '/proc/8/stat': stat(8, 601), '/proc/self/stat': '' } },
    ],
  ])('says %j of whether a process has ended if the machine %s', (ended, _, process, machine) => {
    stubMachine({ ...machine, namespace: 'pid:[1]' });
    expect(viewProcesses('anywhere').hasEnded(process)).toBe(ended);
  });

  it('tells of others off Linux only if they run on this machine', () => {
    stubMachine({ platform: 'darwin', kill: { 8: 'ESRCH' } });
    const { space = '' } = viewProcesses('machine').self() ?? {};
    const ended = (['machine', 'anywhere'] as const).map((where) =>
      viewProcesses(where).hasEnded({ space, pid: 8 }),
    );
    expect(ended).toEqual([true, false]);
  });
});

it('a view of the processes names none on workerd, and tells of none', () => {
  stubMachine({ namespace: 'pid:[1]', kill: { 8: 'ESRCH' } });
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
  const view = viewProcesses('machine');
  expect(view.self()).toBeUndefined();
  expect(view.hasEnded({ space, pid: 8 })).toBe(false);
});
