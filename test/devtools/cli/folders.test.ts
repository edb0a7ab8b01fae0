import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { stateFolder } from '../../../src/devtools/cli/inputs/folders.ts';

type Given = Parameters<typeof stateFolder>[0];

/** Of the context only these two are read. */
const folderOf = (env: Given['env'], platform: Given['platform'] = 'linux') =>
  stateFolder({ env, platform } as Given, 'sandboxes');
const inHome = (home: string) => join(home, '.local', 'state', 'partner-exchange', 'sandboxes');

it.each([
  [
    'an absolute XDG_STATE_HOME',
    { XDG_STATE_HOME: '/state', HOME: '/home/ada' },
    '/state/partner-exchange/sandboxes',
  ],
  ['a relative XDG_STATE_HOME', { XDG_STATE_HOME: 'state', HOME: '/home/ada' }, inHome('/home/ada')],
  ['an empty XDG_STATE_HOME', { XDG_STATE_HOME: '', HOME: '/home/ada' }, inHome('/home/ada')],
  ['a relative HOME', { HOME: 'ada' }, inHome(homedir())],
  ['an empty HOME', { HOME: '' }, inHome(homedir())],
])('the state folder is never below the current folder: %s', (_, env, expected) => {
  expect(folderOf(env)).toBe(expected);
});

it.each(['', 'ada'])(
  'the state folder is that of the account where the HOME of the process is %j',
  (home) => {
    vi.stubEnv('HOME', home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const folder = folderOf({ HOME: home });
    expect(isAbsolute(folder)).toBe(true);
    expect(folder).toBe(inHome(userInfo().homedir));
  },
);

it('the state folder of Windows ignores a relative LOCALAPPDATA', () => {
  expect(folderOf({ LOCALAPPDATA: 'C:\\Users\\ada\\Local' }, 'win32')).toContain('C:\\Users\\ada\\Local');
  expect(folderOf({ LOCALAPPDATA: 'Local', HOME: '/home/ada' }, 'win32')).toContain(join('AppData', 'Local'));
});
