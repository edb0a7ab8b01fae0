import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { root } from './entries.ts';
import { run } from './run.ts';
import { startTally } from './tally.ts';

/*
 * The lowest and the newest version of each client that the peer ranges allow, newest as of now: the contract suites,
 * a few rounds of kills, and the types. Each end gets a copy of the project in the system's
 * temporary folder, with these versions in its node_modules. A version that our own node_modules has is left to `npm test`.
 */

const patience = 900_000;
/** The tests of each client, without those of the older ones in our own node_modules, and its engines for `npm run prove -- crash`. */
const peers: Readonly<Record<string, { tests: string; engine: string }>> = {
  ioredis: { tests: 'redisStore with ioredis (?!\\d)', engine: 'store-redis' },
  pg: { tests: 'postgresStore', engine: 'store-postgres' },
  redis: { tests: 'redisStore with node-redis (?!\\d)', engine: 'store-redis' },
};
const testFiles = [
  'test/inbox/contract.integration.test.ts',
  'test/inbox/personal-data.integration.test.ts',
  'test/store/contract.integration.test.ts',
];
const crashRounds = '4';

// Our own file.
const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  peerDependencies: Readonly<Record<string, string>>;
};

const ends: Readonly<Record<string, (range: string) => string>> = {
  lowest: (range) => /\d+\.\d+\.\d+/.exec(range)?.[0] ?? range,
  newest: (range) => range,
};

const tally = startTally();
for (const [end, versionOf] of Object.entries(ends)) {
  if (process.argv.length > 2 && !process.argv.includes(end)) continue;
  const folder = mkdtempSync(join(tmpdir(), 'partner-exchange-sdk-'));
  try {
    let others: string[] | undefined;
    await tally.check(`npm has the ${end} versions`, () => {
      install(folder, versionOf);
      others = Object.keys(peerDependencies).filter(
        (name) => versionIn(folder, name) !== versionIn(root, name),
      );
    });
    if (others === undefined) continue;
    if (others.length === 0) console.log(`skip  the ${end} versions are those that npm test runs with`);
    else await tryVersions(end, folder, others);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
tally.finish();

/** Runs what these clients can break. */
async function tryVersions(end: string, folder: string, names: readonly string[]): Promise<void> {
  const found = names.map((name) => `${name} ${versionIn(folder, name)}`).join(', ');
  const chosen = names.flatMap((name) => peers[name] ?? []);
  if (chosen.length < names.length) throw new Error(`A peer has no tests: ${names.join(', ')}`);
  await tally.check(`the ${end} versions fit the types: ${found}`, () => {
    node(folder, [join('node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.peers.json']);
  });
  await tally.check(`stores and inboxes keep their contract with the ${end} versions`, () => {
    const tests = chosen.map((peer) => peer.tests).join('|');
    const vitest = join('node_modules', 'vitest', 'vitest.mjs');
    // In full: not every engine is tried each day.
    node(folder, [vitest, 'run', '--mode', 'all', '--reporter=dot', ...testFiles, '-t', tests], {
      TEST_THOROUGH: '1',
    });
  });
  await tally.check(`nothing is lost when processes and engines are killed, with the ${end} versions`, () => {
    const engines = [...new Set(chosen.map(({ engine }) => engine))].flatMap((name) => ['--engine', name]);
    const rounds = ['--rounds', crashRounds, '--restart-every', crashRounds];
    node(folder, ['test/crash/crash.ts', ...rounds, ...engines]);
  });
}

/** Makes a copy of the project with these versions of its peers. */
function install(folder: string, versionOf: (range: string) => string): void {
  const dependencies = Object.fromEntries(
    Object.entries(peerDependencies).map(([name, range]) => [name, versionOf(range)]),
  );
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  try {
    // Clients of the clients: they have versions of their own.
    const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps'];
    run('npm', ['install', ...options], { cwd: folder });
  } catch (error) {
    const names = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`npm could not install ${names.join(', ')}: this check needs the registry.\n${why}`);
  }
  const ours = join(root, 'node_modules');
  linkMissing(ours, join(folder, 'node_modules'));
  const left = new Set(['node_modules', '.git', 'dist', 'package-lock.json']);
  cpSync(root, folder, { recursive: true, filter: (path) => !left.has(basename(path)) });
  const files = ['tools/checks/peers-consumer.ts'];
  writeFileSync(
    join(folder, 'tsconfig.peers.json'),
    JSON.stringify({ extends: './tsconfig.json', include: files }),
  );
}

/** Links what only the other folder of packages has. */
function linkMissing(from: string, to: string): void {
  for (const name of readdirSync(from)) {
    const target = join(to, name);
    if (!existsSync(target)) symlinkSync(join(from, name), target);
    else if (name.startsWith('@')) linkMissing(join(from, name), target);
  }
}

function versionIn(project: string, name: string): string {
  const manifest = readFileSync(join(project, 'node_modules', name, 'package.json'), 'utf8');
  // Written by npm.
  return (JSON.parse(manifest) as { version: string }).version;
}

function node(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): void {
  run(process.execPath, args, { cwd, timeout: patience, env: { ...process.env, ...env } });
}
