import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { asLines, hasTerminals, startInteractiveShell } from '../../test/devtools/cli/interactive-shell.ts';
import { freePort, isFree } from '../../test/support/free-port.ts';
import { root } from './entries.ts';
import { startLocalRegistry } from './local-registry.ts';
import { packTarball } from './scratch-project.ts';
import { startTally } from './tally.ts';

/*
 * Follows docs/quick-start.md in three real terminals, from an empty folder and the packed tarball: types each `sh` block
 * as it stands, saves each `js` block under the name before it, and waits until each `text` block is shown.
 * Needs a build.
 */

interface Block {
  readonly language: string;
  readonly text: string;
  readonly terminal: keyof typeof terminals;
  /** For a file to save: its name. */
  readonly file: string | undefined;
}

const tally = startTally();
if (!hasTerminals) throw new Error('The quick start is typed in a terminal: install python3 and bash.');
const folder = mkdtempSync(join(tmpdir(), 'partner-exchange-quick-start-'));
const empty = join(folder, 'empty');
mkdirSync(empty);
const registry = await startLocalRegistry(packTarball(folder));
// The documented ports, unless another program has them.
const ports = new Map<string, string>();
for (const port of ['3000', '4200']) {
  ports.set(port, (await isFree(Number(port))) ? port : String(await freePort()));
}
// A user's environment: nothing that configures the package, and nothing of the npm that runs this.
const ofUser = Object.entries(process.env).filter(
  ([name]) => !/^(?:npm_|INIT_CWD|NODE_OPTIONS|PARTNER_|MERCHANT_|MESSENGER_|OTP_)/.test(name),
);
const shellOptions = {
  cwd: empty,
  timeoutMs: 120_000,
  env: {
    ...Object.fromEntries(ofUser),
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
    npm_config_registry: registry.url,
  },
};
const terminals = {
  first: await startInteractiveShell(shellOptions),
  second: await startInteractiveShell(shellOptions),
  third: await startInteractiveShell(shellOptions),
};
/** Where the output of the last block that was typed begins. */
const marks = { first: 0, second: 0, third: 0 };
/** Commands after which there is no prompt. */
const staysOpen = /^npx [\w-]+ sandbox >|^node send-code/;
let hasFailed = false;
const started = performance.now();
try {
  for (const block of readBlocks(readFileSync(join(root, 'docs', 'quick-start.md'), 'utf8'))) {
    await check(`${block.language}: ${block.text.split('\n')[0]}`, () => follow(block));
  }
  await check('fg and Ctrl-C end the receiver, and Ctrl-C the sandbox', stop);
} finally {
  for (const terminal of Object.values(terminals)) terminal.close();
  registry.close();
  rmSync(folder, { recursive: true, force: true });
}
tally.finish();

/** A step. After one that fails, the others would fail too. */
async function check(name: string, run: () => Promise<void>): Promise<void> {
  if (hasFailed) return;
  const seconds = Math.round((performance.now() - started) / 1_000);
  await tally.check(`after ${seconds} s, ${name}`, () =>
    run().catch((error: unknown) => {
      hasFailed = true;
      throw error;
    }),
  );
}

function readBlocks(page: string): Block[] {
  let terminal: Block['terminal'] = 'first';
  let end = 0;
  return [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ({ 0: { length }, 1: language = '', 2: text = '', index }) => {
      const prose = page.slice(end, index);
      end = index + length;
      const [, named] = /\*\*(first|second|third) terminal\*\*/.exec(prose) ?? [];
      // Sound: the expression has these names alone.
      if (named !== undefined) terminal = named as Block['terminal'];
      return { terminal, language, text, file: /Save this as `([\w.-]+)`/.exec(prose)?.[1] };
    },
  );
}

async function follow({ terminal, language, text, file }: Block): Promise<void> {
  const shell = terminals[terminal];
  if (language === 'sh') {
    marks[terminal] = shell.mark();
    for (const line of text.trimEnd().split('\n')) {
      if (staysOpen.test(line)) shell.type(`${withPorts(line)}\n`);
      else await shell.run(withPorts(line));
    }
  } else if (language === 'js') {
    if (file === undefined) throw new Error('The text before this block names no file to save it as.');
    writeFileSync(join(empty, 'quick-start', file), withPorts(text));
  } else {
    for (const line of text.trimEnd().split('\n')) {
      await shell.printed((shown) => plain(shown).split('\n').includes(line), { from: marks[terminal] });
      if (line === 'The code:') {
        marks[terminal] = shell.mark();
        shell.type(`${await readCode()}\n`);
      }
    }
  }
}

function withPorts(text: string): string {
  const changed = text.replaceAll(/\b(?:3000|4200)\b/g, (port) => ports.get(port) ?? port);
  const port = ports.get('4200');
  if (port === '4200') return changed;
  return changed.replace(/(partner-exchange-sdk sandbox(?: advance)?)(?= [>A])/, `$1 --port ${port}`);
}

/** What a terminal shows, as the page has it. */
function plain(shown: string): string {
  return (
    [...ports]
      .reduce((text, [documented, port]) => text.replaceAll(`:${port}`, `:${documented}`), asLines(shown))
      // What npx shows while it works.
      .replaceAll(/[\u2800-\u28ff]/g, '')
      .replaceAll(/\(\d+ ms\)/g, '(5 ms)')
      .replaceAll(/ +$/gm, '')
  );
}

/** The code in the message, as a person reads it in the inspector. */
async function readCode(): Promise<string> {
  const reply = await fetch(`http://127.0.0.1:${ports.get('4200')}/_sandbox/state`);
  // Sound: the form of the sandbox's state.
  const { messages } = (await reply.json()) as { messages: { message: string }[] };
  return /\d{6}/.exec(messages[0]?.message ?? '')?.[0] ?? 'no message';
}

async function stop(): Promise<void> {
  const { first, second } = terminals;
  for (const [shell, brings] of [
    [second, 'fg'],
    [first, ''],
  ] as const) {
    const from = shell.mark();
    if (brings !== '') {
      shell.type(`${brings}\n`);
      await shell.printed((shown) => asLines(shown).includes('\nnode receiver.mjs'), { from });
    }
    shell.type('\u0003');
    await shell.printed((shown) => /ready \d+> $/.test(shown), { from });
    const printed = await shell.run('echo "ended with $?"');
    if (!printed.includes('ended with 130')) throw new Error(printed);
  }
}
