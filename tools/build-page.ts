import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { build, type Plugin, transform } from 'esbuild';

// Not from `import.meta.url`: bundlers move this file.
const folder = 'src/devtools/inspector';
/** The module that the build replaces by the page. */
export const pageModule = /\/src\/devtools\/sandbox\/control\/page\.ts$/;

/** Bundles the inspector into one HTML document, and returns it as the code of a module. */
export async function buildPage() {
  const { outputFiles, metafile } = await build({
    entryPoints: [`${folder}/main.tsx`],
    bundle: true,
    minify: true,
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    write: false,
    metafile: true,
  });
  const script = outputFiles.map(({ text }) => text.trim()).join('');
  const css = await transform(readFileSync(`${folder}/style.css`), { loader: 'css', minify: true });
  // Functions, since `$&` in a replacement text has a meaning.
  const html = readFileSync(`${folder}/page.html`, 'utf8')
    .replace('/* style */', () => css.code.trim())
    .replace('/* script */', () => script);
  const page = { html, scriptHash: hashOf(script), styleHash: hashOf(css.code.trim()) };
  return { contents: `export const page = ${JSON.stringify(page)};`, metafile };
}

/** The form of Content-Security-Policy. */
const hashOf = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`;

export const inspectorPage: Plugin = {
  name: 'inspector-page',
  setup({ onLoad }) {
    onLoad({ filter: pageModule }, async () => ({ contents: (await buildPage()).contents }));
  },
};
