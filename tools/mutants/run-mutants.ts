import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';
import type { Verdict } from './mutant-runner.ts';

/**
 * `npm run mutants [-- signature webhooks --survivors]`: changes each expression of these folders of `src`, and looks
 * whether a test of theirs fails. docs/details/development.md says how to read it.
 */

interface Mutant {
  readonly id: string;
  readonly fileName: string;
  readonly replacement: string;
  readonly location: { readonly start: { readonly line: number; readonly column: number } };
}

const root = join(import.meta.dirname, '../..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    survivors: { type: 'boolean' },
    files: { type: 'string', default: '**/*.ts' },
    /** Tries each mutant whose number this divides. */
    every: { type: 'string', default: '1' },
  },
});
const folders =
  positionals.length > 0 ? positionals : ['signature', 'webhooks', 'orders', 'inbox', 'store', 'keys'];

for (const folder of folders) await tryFolder(folder);
process.exit();

async function tryFolder(folder: string): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'mutants-'));
  try {
    for (const entry of ['src', 'test', 'tools', 'contract', 'vectors', 'package.json', 'tsconfig.json'])
      if (existsSync(join(root, entry)))
        cpSync(join(root, entry), join(scratch, entry), {
          recursive: true,
          filter: (path) => !path.endsWith('node_modules'),
        });
    symlinkSync(join(root, 'node_modules'), join(scratch, 'node_modules'));
    const mutants = await instrument(join(scratch, 'src', folder));
    const verdicts = join(scratch, 'verdicts.jsonl');
    writeFileSync(verdicts, '');
    process.env.MUTATED_FOLDER = folder;
    process.env.MUTANT_VERDICTS = verdicts;
    process.env.MUTANTS_EVERY = values.every;
    const vitest = await startVitest('test', [], {
      root: scratch,
      config: join(scratch, 'tools/mutants/vitest.config.ts'),
      watch: false,
    });
    await vitest.close();
    const lines = readFileSync(verdicts, 'utf8').split('\n').slice(0, -1);
    printTable(
      mutants.map((mutant) => ({ ...mutant, fileName: mutant.fileName.slice(scratch.length + 1) })),
      lines.map((line) => JSON.parse(line)),
      folder,
    );
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Replaces the files of `src` by files with a switch for each mutant. */
async function instrument(folder: string): Promise<readonly Mutant[]> {
  const modules = join(import.meta.dirname, 'node_modules/@stryker-mutator');
  // Installed when it is needed, since the project's own install is small.
  if (!existsSync(modules)) {
    const flags = ['--no-audit', '--no-fund', '--prefer-offline'];
    const { status } = spawnSync('npm', ['install', ...flags], {
      cwd: import.meta.dirname,
      stdio: 'inherit',
    });
    if (status !== 0) throw new Error('The instrumenter could not be installed.');
  }
  const { Instrumenter } = await import(join(modules, 'instrumenter/dist/src/index.js'));
  const log = { debug() {}, info() {}, isDebugEnabled: () => false };
  const names = globSync(join(folder, values.files));
  const files = names.map((name) => ({ name, mutate: true, content: readFileSync(name, 'utf8') }));
  const options = { plugins: ['decorators'], excludedMutations: [], ignorers: [], noHeader: false };
  const instrumented = await new Instrumenter(log).instrument(files, options);
  for (const { name, content } of instrumented.files) writeFileSync(name, content);
  return instrumented.mutants;
}

function printTable(mutants: readonly Mutant[], verdicts: readonly Verdict[], folder: string): void {
  const statuses = new Map(verdicts.map(({ mutant, status }) => [mutant, status]));
  const tried = mutants.filter(({ id }) => statuses.has(id));
  const files = Object.entries(Object.groupBy(tried, ({ fileName }) => fileName));
  for (const [file, covered = []] of files.sort()) printRow(file, covered);
  printRow(`src/${folder}`, tried);
  console.log(
    `${mutants.length - tried.length} of ${mutants.length} mutants were reached by no test, or left out.`,
  );
  for (const { status, test } of verdicts)
    if (status === 'unusable') console.log(`Fails without a mutant: ${test}`);

  function printRow(name: string, covered: readonly Mutant[]): void {
    const survivors = covered.filter(({ id }) => statuses.get(id) === 'survived');
    const killed = covered.length - survivors.length;
    console.log(
      `${name}: ${killed} of ${covered.length} killed, ${Math.round((100 * killed) / covered.length)} %`,
    );
    if (values.survivors && name.endsWith('.ts'))
      for (const { location, replacement } of survivors)
        console.log(
          `  ${location.start.line + 1}:${location.start.column + 1} ${replacement.replaceAll(/\s+/g, ' ').slice(0, 100)}`,
        );
  }
}
