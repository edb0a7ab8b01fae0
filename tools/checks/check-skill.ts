import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '../../test/support/free-port.ts';
import { root } from './entries.ts';
import { startLocalRegistry } from './local-registry.ts';
import { packTarball } from './scratch-project.ts';
import { startTally } from './tally.ts';

/*
 * Follows skills/partner-exchange/SKILL.md alone, as an agent does that has no terminal: from an empty folder and the
 * packed tarball it saves each `js` block under the name before it, runs the `sh` blocks in one shell, which ends at the
 * first command that fails, and looks for the lines of each `text` block in what the block before it printed.
 * Needs a build.
 */

const skill = readFileSync(join(root, 'skills', 'partner-exchange', 'SKILL.md'), 'utf8');
const tally = startTally();
const folder = mkdtempSync(join(tmpdir(), 'partner-exchange-skill-'));
const project = join(folder, 'empty');
mkdirSync(project);
const registry = await startLocalRegistry(packTarball(folder));
// Another check may have the documented ports.
const ports = { sandbox: await freePort(), receiver: await freePort() };
try {
  const blocks = readBlocks();
  for (const { file, text } of blocks) if (file !== undefined) writeFileSync(join(project, file), text);
  const { printed, code } = await runInShell(blocks.filter(({ language }) => language === 'sh'));
  let step = 0;
  for (const { language, text } of blocks) {
    if (language === 'sh') {
      const output = printed[step++];
      const isLast = step === printed.length && code !== 0;
      await tally.check(text.trimEnd().split('\n').at(-1) ?? '', () => {
        if (output === undefined) throw new Error('It was not reached.');
        if (isLast) throw new Error(`Exit code ${code}\n${output}`);
      });
    } else if (language === 'text') {
      await tally.check(`prints: ${text.trimEnd().replaceAll('\n', ', ')}`, () => {
        const output = printed[step - 1] ?? '';
        const lines = output.split('\n').filter((line) => text.split('\n').includes(line));
        if (`${lines.join('\n').trim()}\n` !== text) throw new Error(output);
      });
    }
  }
} finally {
  registry.close();
  rmSync(folder, { recursive: true, force: true });
}
tally.finish();

function readBlocks() {
  let end = 0;
  return [...skill.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ({ 0: { length }, 1: language = '', 2: block = '', index }) => {
      const [, file] = /Save this as `([\w.-]+)`/.exec(skill.slice(end, index)) ?? [];
      end = index + length;
      if (language === 'js' && file === undefined) throw new Error('A program has no name before it.');
      return { language, text: withFreePorts(block), file: language === 'js' ? file : undefined };
    },
  );
}

function withFreePorts(block: string): string {
  return block
    .replaceAll(/\b3000\b/g, `${ports.receiver}`)
    .replace(/sandbox (?=>)/, `sandbox --port ${ports.sandbox} `);
}

/** @returns what each block printed, up to the one that failed, and the exit code */
async function runInShell(blocks: readonly { readonly text: string }[]) {
  const mark = '-- the next block --';
  const script = ['set -e', 'exec 2>&1', ...blocks.map(({ text }) => `echo '${mark}'\n${text}`)].join('\n');
  const ofUser = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|INIT_CWD|NODE_OPTIONS|PARTNER_|MERCHANT_|MESSENGER_|OTP_)/.test(name),
  );
  const shell = spawn('bash', ['-c', script], {
    cwd: project,
    // A group of its own, so that what runs in the background ends with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...Object.fromEntries(ofUser),
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      npm_config_registry: registry.url,
    },
  });
  const output = text(shell.stdout);
  const [code] = await once(shell, 'exit');
  // Its own group, which the programs in the background are still in.
  if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGTERM');
  return { printed: (await output).split(`${mark}\n`).slice(1), code: Number(code) };
}
