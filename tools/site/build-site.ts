import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../checks/entries.ts';
import { run } from '../checks/run.ts';

/** Where the site is built: `npm run docs:site` writes it. */
export const siteFolder = join(import.meta.dirname, '.vitepress', 'dist');

/** Builds the site from docs/. Its packages are installed when they are needed, since the project's own install is small. */
export function buildSite(): void {
  const folder = import.meta.dirname;
  const vitepress = join(folder, 'node_modules', 'vitepress', 'bin', 'vitepress.js');
  const pages = join(folder, 'pages');
  if (!existsSync(vitepress)) {
    run('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: folder, timeout: 300_000 });
  }
  rmSync(pages, { recursive: true, force: true });
  cpSync(join(root, 'docs'), pages, { recursive: true });
  // It refuses links that lead nowhere.
  run(process.execPath, [vitepress, 'build'], { cwd: folder, timeout: 600_000 });
}

if (import.meta.main) {
  buildSite();
  console.log(`The site is in ${siteFolder}.`);
}
