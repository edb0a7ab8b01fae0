import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

/** The page has it inside. */
export const preactFolder = fileURLToPath(new URL('node_modules/preact', import.meta.url));

const file = (name) => fileURLToPath(new URL(`src/inspector/page/${name}`, import.meta.url));

/**
 * Puts the inspector into `src/sandbox/admin/page-html.ts`: one HTML document with its script and its style sheet
 * inside. For rollup, and for vite in the tests.
 */
export function inspectorPage() {
  let built;
  return {
    name: 'inspector-page',
    enforce: 'pre',
    async load(id) {
      if (!isPage(id)) return null;
      built ??= buildPage();
      // The sources are in the repository, and one file more would only weigh on the package.
      return {
        code: `export const page = ${JSON.stringify(await built)};`,
        map: { mappings: '' },
      };
    },
    // Made of more files than its own: vitest must not keep it from an earlier run.
    configureVitest({ defineCacheKeyGenerator }) {
      defineCacheKeyGenerator(({ id }) => (isPage(id) ? false : undefined));
    },
  };
}

/** Whether a module is the page. */
export const isPage = (id) => id.endsWith('/src/sandbox/admin/page-html.ts');

async function buildPage() {
  const { outputFiles } = await build({
    entryPoints: [file('main.tsx')],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    write: false,
  });
  const script = outputFiles[0].text.trim();
  const style = (
    await transform(readFileSync(file('style.css'), 'utf8'), { loader: 'css', minify: true })
  ).code.trim();
  // Functions: in a replacement text `$&` has a meaning.
  const html = readFileSync(file('page.html'), 'utf8')
    .replace('/* style */', () => style)
    .replace('/* script */', () => script);
  return { html, scriptHash: hashOf(script), styleHash: hashOf(style) };
}

/** As a Content-Security-Policy names an inline script or style sheet. */
function hashOf(text) {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
