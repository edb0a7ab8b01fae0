import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import { describeWith, postgresUrl, redisUrl, run } from '../../store/servers.ts';
import { startChild } from './child.ts';
import { hasTerminals } from './interactive-shell.ts';
import { partnerExchange, type RunOptions } from './run-in-process.ts';
import { deviceService } from './service.ts';
import { scratchFolder, start } from './support.ts';

const csv = 'Mobile,Name\n+2348012345678,Ada\n+2348012345679,Bayo\n08012345678,Ada again\n';
const text = ['--column', 'to_phone=Mobile', '--template', 'Dear {Name}'];
const send = ['send', 'rows.csv', '--campaign', 'c', ...text, '--country', 'NG', '--rate', '1000'];
const root = join(import.meta.dirname, '../../..');

/** A paired device, and a folder with the CSV file. */
async function device(rows = csv, { numbersNotOnMessenger = [] as string[] } = {}) {
  const { sandbox, cwd, pair, options } = await deviceService({ numbersNotOnMessenger });
  await pair();
  writeFileSync(join(cwd, 'rows.csv'), rows);
  const more: RunOptions = { ...options, now: Date.now };
  return { sandbox, cwd, options: more };
}

function itemsIn(stdout: string): Record<string, unknown>[] {
  return stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

describe('send', () => {
  it('sends to each number once, in all runs, and keeps that in a private file', async () => {
    const { sandbox, cwd, options } = await device();
    const args = [...send, '--yes', '--format', 'json'];
    const first = await partnerExchange(args, options);
    expect(first.code).toBe(0);
    expect(itemsIn(first.stdout).map(({ key, state }) => [key, state])).toEqual([
      ['2', 'sent'],
      ['3', 'sent'],
      ['4', 'duplicate'],
    ]);
    expect(first.stderr).toContain('2 sent, 1 duplicate.');
    expect(sandbox.messages.map(({ message }) => message)).toEqual(['Dear Ada', 'Dear Bayo']);
    if (process.platform !== 'win32') expect(statSync(join(cwd, 'rows.csv.sqlite')).mode & 0o777).toBe(0o600);

    const second = await partnerExchange(args, options);
    expect({ code: second.code, sent: sandbox.messages.length }).toEqual({ code: 0, sent: 2 });
    expect(second.stderr).toContain('(2 in an earlier run)');
  });

  it('counts in a dry run rows with an empty placeholder and those outside --allow-prefix', async () => {
    const { options } = await device('Mobile,Name\n+2348012345678,\n+12025550123,Ada\n+2348012345679,Bayo\n');
    const args = [...send, '--dry-run', '--allow-prefix', '+234'];
    const { code, stdout, stderr } = await partnerExchange(args, { ...options, env: {} });
    expect(code).toBe(1);
    expect(stdout).toContain('invalid   2: line 2: the column "Name" is empty');
    expect(stdout).toContain('invalid   3: to_phone begins with none of allowedPrefixes');
    expect(stderr).toContain('1 would be sent, 2 invalid.');
  });

  it('checks every row in a dry run, which needs no key, sends nothing and makes no file', async () => {
    const { sandbox, cwd, options } = await device(`${csv}nonsense,Chi\n`);
    const { code, stdout, stderr } = await partnerExchange([...send, '--dry-run'], { ...options, env: {} });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^duplicate 4\ninvalid {3}5: .+\n$/);
    expect(stderr).toContain('2 would be sent, 1 duplicate, 1 invalid.');
    expect({ sent: sandbox.messages, file: existsSync(join(cwd, 'rows.csv.sqlite')) }).toEqual({
      sent: [],
      file: false,
    });
  });

  it('exits with 0 after a good dry run', async () => {
    const { options } = await device();
    expect((await partnerExchange([...send, '--dry-run'], options)).code).toBe(0);
  });

  it('asks before it sends, and a no sends nothing', async () => {
    const { sandbox, options } = await device();
    const asked: string[] = [];
    const confirm = (answer: boolean) => async (question: string) => {
      asked.push(question);
      return answer;
    };
    const no = await partnerExchange(send, { ...options, isTerminal: true, confirm: confirm(false) });
    expect({ code: no.code, sent: sandbox.messages.length }).toEqual({ code: 130, sent: 0 });
    expect(asked).toEqual(['Send 3 rows of rows.csv as "c"?']);
    const yes = await partnerExchange(send, { ...options, isTerminal: true, confirm: confirm(true) });
    expect({ code: yes.code, sent: sandbox.messages.length }).toEqual({ code: 0, sent: 2 });
    expect(yes.stderr).toContain('████████████████████ 100% 3 of 3');
  });

  it('needs --yes where nobody can be asked', async () => {
    const { sandbox, options } = await device();
    const { code, stderr } = await partnerExchange(send, options);
    expect({ code, sent: sandbox.messages.length }).toEqual({ code: 2, sent: 0 });
    expect(stderr).toContain('--yes');
  });

  it('exits with 1 when a message is refused', async () => {
    const { options } = await device(csv, { numbersNotOnMessenger: ['+2348012345679'] });
    const { code, stdout } = await partnerExchange([...send, '--yes'], options);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^refused {3}3: http_error, status \d+\nduplicate 4\n$/);
  });

  it('exits with 3 when a message may have been sent, and does not send it again unless asked to', async () => {
    const { sandbox, options } = await device();
    sandbox.faults.next('sendMessage', 'reply_lost');
    const { code, stdout, stderr } = await partnerExchange([...send, '--yes'], options);
    expect(code).toBe(3);
    expect(stdout).toContain('unknown   2:');
    expect(stderr).toContain('1 sent, 1 unknown, 1 duplicate.');
    expect((await partnerExchange([...send, '--yes'], options)).code).toBe(3);
    expect(sandbox.messages).toHaveLength(2);
    const again = await partnerExchange([...send, '--yes', '--repeat', 'unknown'], options);
    expect({ code: again.code, sent: sandbox.messages.length }).toEqual({ code: 0, sent: 3 });
  });

  it('settles what is under way when it is stopped in the middle, and the same command goes on', async () => {
    const rows = Array.from({ length: 6 }, (_, index) => `+234801234567${index},N${index}\n`);
    const { sandbox, options } = await device(`Mobile,Name\n${rows.join('')}`);
    const args = [...send, '--yes', '--format', 'json'];
    let first = '';
    const running = start(args.with(args.indexOf('1000'), '20'), options);
    first = await running.printed('stdout', /"state":"sent"/);
    const stopped = await running.stop();
    const before = sandbox.messages.length;
    expect(first).not.toBe('');
    expect({ code: stopped.code, isPart: before > 0 && before < 6 }).toEqual({ code: 130, isPart: true });
    expect(itemsIn(stopped.stdout)).toHaveLength(before);
    expect(stopped.stderr).toContain('The same command goes on where this one stood.');
    expect(await partnerExchange(args, options)).toMatchObject({ code: 0 });
    expect(sandbox.messages.map(({ message }) => message)).toEqual(rows.map((_, index) => `Dear N${index}`));
  });

  it('ends after so many failures, with what to do', async () => {
    const { options } = await device(csv, { numbersNotOnMessenger: ['+2348012345678'] });
    const { code, stderr } = await partnerExchange([...send, '--yes', '--stop-after', '1'], options);
    expect(code).toBe(1);
    expect(stderr).toMatch(/error: 1 messages in a row were not sent/);
    expect(stderr).toContain('The same command goes on');
  });

  it.each([
    ['Mobile,Name\n"open,x\n', 'a quote that opens after line 1 is not closed'],
    [
      'Phone,Name\n',
      'it has no column "Mobile": its columns are "Phone", "Name". Name the column that you mean.',
    ],
    [
      'Mobile;Name\n',
      'it has no column "Mobile", and its columns are not separated by the delimiter. Set the delimiter to ";".',
    ],
    ['Mobile,Name,Name\n+2348012345678,Ada,Obi\n', 'two of its columns have the title "Name"'],
    ['', 'it has no header'],
  ])('sends nothing if a file cannot be read: %j', async (rows, message) => {
    const { sandbox, options } = await device(rows);
    const { code, stderr } = await partnerExchange([...send, '--yes'], options);
    expect({ code, sent: sandbox.messages.length }).toEqual({ code: 2, sent: 0 });
    expect(stderr).toContain(message);
  });

  it('refuses a missing file, and rows from stdin without a store', async () => {
    const { options } = await device();
    const missing = await partnerExchange(['send', 'no.csv', '--campaign', 'c', '--yes'], options);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('no.csv') });
    const stdin = await partnerExchange(['send', '-', '--campaign', 'c', '--yes'], {
      ...options,
      stdin: csv,
    });
    expect(stdin).toMatchObject({ code: 2, stderr: expect.stringContaining('--store') });
  });

  it('reads rows from stdin', async () => {
    const { sandbox, options } = await device();
    const args = send.with(1, '-').concat('--yes', '--store', 'store.sqlite');
    const { code } = await partnerExchange(args, { ...options, stdin: csv });
    expect({ code, sent: sandbox.messages.length }).toEqual({ code: 0, sent: 2 });
  });
});

describe('send without a terminal', () => {
  it('says in a plain line every ten seconds how far it is', async () => {
    const { options } = await device();
    let at = Date.now();
    // Each look at the clock takes four seconds.
    const now = () => {
      at += 4_000;
      return at;
    };
    const { code, stderr } = await partnerExchange([...send, '--yes'], { ...options, now });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^\d of 3(?:, .+)?$/m);
    for (const control of ['\r', '\u001b']) expect(stderr).not.toContain(control);
  });
});

describe('the store of send', () => {
  it('may not be an address with a password, which other users would see', async () => {
    const { options } = await device();
    const args = [...send, '--yes', '--store', 'redis://:topsecret@127.0.0.1:1/0'];
    const { code, stderr } = await partnerExchange(args, options);
    expect(code).toBe(2);
    expect(stderr).toContain('env:NAME');
    expect(stderr).not.toContain('topsecret');
  });

  it.each([
    ['redis://127.0.0.1:1', 'ioredis'],
    ['postgres://127.0.0.1:1/db', 'pg'],
  ])('%s: says which package is missing', async (store, name) => {
    const { options } = await device();
    const { code, stderr } = await partnerExchange([...send, '--yes', '--store', store], options);
    expect(code).toBe(2);
    expect(stderr).toContain(`npm install ${name}`);
  });

  it('env: names a variable, which must be set', async () => {
    const { options } = await device();
    const { code, stderr } = await partnerExchange([...send, '--yes', '--store', 'env:NOWHERE'], options);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('NOWHERE is not set') });
  });

  it.skipIf(redisUrl === '')('may be a Redis, with the ioredis of the project', async () => {
    const { sandbox, cwd, options } = await device();
    const env = { ...options.env, STORE: redisUrl };
    const args = send.with(1, join(cwd, 'rows.csv')).with(3, run).concat('--yes', '--store', 'env:STORE');
    const inProject = { ...options, env, cwd: root };
    expect((await partnerExchange(args, inProject)).code).toBe(0);
    const second = await partnerExchange(args, inProject);
    expect({ code: second.code, sent: sandbox.messages.length }).toEqual({ code: 0, sent: 2 });
    expect(second.stderr).toContain('(2 in an earlier run)');
  });
});

describeWith('postgres', 'the store of send, a PostgreSQL', () => {
  it('is reached with the pg of the project, and keeps what was sent', async () => {
    const { sandbox, cwd, options } = await device();
    const env = { ...options.env, STORE: postgresUrl };
    const campaign = `${run}-postgres`;
    const args = send
      .with(1, join(cwd, 'rows.csv'))
      .with(3, campaign)
      .concat('--yes', '--store', 'env:STORE');
    const inProject = { ...options, env, cwd: root };
    const first = await partnerExchange(args, inProject);
    expect({ code: first.code, sent: sandbox.messages.length }).toEqual({ code: 0, sent: 2 });
    const second = await partnerExchange(args, inProject);
    expect({ code: second.code, sent: sandbox.messages.length }).toEqual({ code: 0, sent: 2 });
    expect(second.stderr).toContain('(2 in an earlier run)');
    expect(first.stdout + first.stderr + second.stderr).not.toContain(postgresUrl);
  });

  it('that cannot be reached ends it before anything is sent', async () => {
    const { sandbox, cwd, options } = await device();
    const env = { ...options.env, STORE: 'postgres://nobody:topsecret@127.0.0.1:1/none' };
    const args = send.with(1, join(cwd, 'rows.csv')).concat('--yes', '--store', 'env:STORE');
    const { code, stdout, stderr } = await partnerExchange(args, { ...options, env, cwd: root });
    expect(code).not.toBe(0);
    expect(sandbox.messages).toEqual([]);
    expect(stdout + stderr).not.toContain('topsecret');
  });
});

describe.runIf(hasTerminals)('send on a terminal', () => {
  it('asks, shows a bar, fits 40 columns, and stops in order on Ctrl-C', { timeout: 60_000 }, async () => {
    const sandbox = createSandbox();
    const server = await sandbox.listen();
    onTestFinished(() => server.close());
    const cwd = scratchFolder();
    const numbers = Array.from({ length: 50 }, (_, index) => `+23480123456${index + 10},Hi\n`);
    writeFileSync(join(cwd, 'rows.csv'), `to_phone,message\n${numbers.join('')}`);
    const env = {
      PARTNER_EXCHANGE_MESSENGER_BASE_URL: server.deployment.messengerBaseUrl,
      MESSENGER_MASTER_KEY: sandbox.masterKey,
    };
    await partnerExchange(['messenger', 'key', '1', '--save', 'key.json'], { cwd, env, fetch });
    const { api_key } = JSON.parse(readFileSync(join(cwd, 'key.json'), 'utf8'));
    await fetch(`${env.PARTNER_EXCHANGE_MESSENGER_BASE_URL}/connect-msg/scan-device?api_key=${api_key}`);
    const answers = [
      ['Send 50 rows', 'y'],
      [' of 50', '\u0003'],
    ] as const;
    const child = startChild(['send', 'rows.csv', '--campaign', 'spring-and-summer', '--rate', '5'], {
      answers,
      cwd,
      env: { ...env, MESSENGER_API_KEY: api_key, TERMINAL_SIZE: '[24, 40]' },
    });
    const { code, stdout } = await child.ended;
    expect(code).toBe(130);
    // Prompt and bar alone: the terminal wraps what is printed once.
    const [untilStopped = ''] = stdout.split('^C');
    const lines = stripVTControlCharacters(untilStopped).split(/[\r\n]+/);
    expect(lines.filter((line) => line.length > 40)).toEqual([]);
    expect(lines).toContainEqual(expect.stringMatching(/^[█░]{20} +\d+% \d+ of 50/));
    expect(stdout).not.toMatch(/RangeError|\bat file:/);
    expect(stdout).toContain('The same command goes on where this one stood.');
    expect(sandbox.messages.length).toBeLessThan(50);
  });
});
