import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './entries.ts';
import { run } from './run.ts';
import { packTarball } from './scratch-project.ts';

const dependencies = ['ky', 'zod'];
const options = [
  ...['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--prefer-offline'],
  // By itself npm waits for minutes where there is no network.
  ...['--fetch-retries=2', '--fetch-retry-mintimeout=500', '--fetch-retry-maxtimeout=2000'],
];

/**
 * Installs the packed package in a folder, with what it depends on at the versions that the rest of the tests use, and
 * what the folder's package.json names: exact versions, and no lock, which npm would write for this platform alone.
 */
export function installPacked(folder: string): void {
  const packed = mkdtempSync(join(tmpdir(), 'partner-exchange-sdk-'));
  try {
    // By a name without its version: npm would take one that it knows from its cache.
    copyFileSync(packTarball(packed), join(packed, 'package.tgz'));
    const packages = [join(packed, 'package.tgz'), ...dependencies.map(atVersionOfRoot)];
    run('npm', ['install', ...options, ...packages], { cwd: folder, timeout: 300_000 });
  } finally {
    rmSync(packed, { recursive: true, force: true });
  }
  if (!existsSync(join(folder, 'node_modules', 'partner-exchange-sdk'))) {
    throw new Error('The package was not installed.');
  }
}

function atVersionOfRoot(name: string): string {
  // A package that npm has installed: its manifest has a version.
  const manifest = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')) as {
    version: string;
  };
  return `${name}@${manifest.version}`;
}
