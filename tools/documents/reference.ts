import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Application,
  type CommentDisplayPart,
  type Context,
  Converter,
  type Reflection,
  TypeDocReader,
} from 'typedoc';
import { MarkdownPageEvent, ModuleRouter } from 'typedoc-plugin-markdown';
import ts from 'typescript';
import { readEntries, root } from '../checks/entries.ts';

/** Writes docs/reference, a page for each entry of the package. With `--check` it names the pages that are not current. */

const reference = join(root, 'docs', 'reference');
const isCheck = process.argv.includes('--check');
const out = isCheck ? mkdtempSync(join(tmpdir(), 'reference-')) : reference;
const entryPoints = readEntries().map(({ source }) => join(root, source));

const app = await Application.bootstrapWithPlugins(
  {
    options: join(import.meta.dirname, 'typedoc.json'),
    entryPoints,
    outputs: [{ name: 'markdown', path: out }],
  },
  [new TypeDocReader()],
);
const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, root);
// Without the tests: half the time. In one order, whatever else the program holds.
app.options.setCompilerOptions(entryPoints, { ...options, stableTypeOrdering: true }, undefined);
app.renderer.defineRouter(
  'entries',
  class extends ModuleRouter {
    /** `partner-exchange-sdk/inbox` has the page inbox/sqlite.md. */
    override getReflectionAlias(reflection: Reflection): string {
      return reflection.name.replace(/^partner-exchange-sdk\/?/, '') || 'index';
    }
  },
);
app.converter.on(Converter.EVENT_RESOLVE_END, tidy);
app.renderer.on(MarkdownPageEvent.END, (page) => {
  const toDocs = '../'.repeat(page.url.split('/').length);
  page.contents = joinReferences(page.contents ?? '')
    .replaceAll('**Throws** - ', '**Throws** ')
    .replaceAll(/ +$/gm, '')
    .replaceAll(/(?<![[(/`])docs\/([\w/-]+\.md)/g, `[docs/$1](${toDocs}$1)`);
});

const project = await app.convert();
if (project) {
  app.validate(project);
  await app.generateOutputs(project);
}
const stale = isCheck ? stalePages() : [];
if (stale.length > 0) console.error(`Not current: run "npm run docs:reference".\n${stale.join('\n')}`);
if (isCheck) rmSync(out, { recursive: true });
process.exitCode = !project || app.logger.hasErrors() || app.logger.hasWarnings() || stale.length > 0 ? 1 : 0;

/** Leaves out what an interface inherits from another on its page, and joins the errors of a function in one list. */
function tidy({ project }: Context): void {
  for (const reflection of Object.values(project.reflections)) {
    const inherited = reflection.isDeclaration() && reflection.inheritedFrom?.reflection;
    if (inherited && pageOf(inherited) === pageOf(reflection)) project.removeReflection(reflection);
    const tags = reflection.comment?.blockTags ?? [];
    const [first, ...others] = tags.filter(({ tag }) => tag === '@throws');
    if (!reflection.comment || !first) continue;
    first.content = [first, ...others].flatMap(({ typeAnnotation = '', content }): CommentDisplayPart[] => {
      const text = typeAnnotation.replace(/[{}]/g, '');
      const target = project.getChildByName(['partner-exchange-sdk', text]);
      const name: CommentDisplayPart = target
        ? { kind: 'inline-tag', tag: '@link', text, target }
        : { kind: 'text', text };
      return [{ kind: 'text', text: '\n- ' }, name, { kind: 'text', text: ' ' }, ...content];
    });
    reflection.comment.blockTags = tags.filter((tag) => !others.includes(tag));
  }
}

function pageOf(reflection: Reflection): Reflection {
  return reflection.parent && !reflection.parent.isProject() ? pageOf(reflection.parent) : reflection;
}

/** A list instead of a section for each name of another page. */
function joinReferences(page: string): string {
  return page.replace(/\n## References\n[\s\S]*/, (section) => {
    const links = [...section.matchAll(/^Re-exports (.+)$/gm)].map(([, link]) => link);
    return `\n## Also exported here\n\n${links.join(', ')}\n`;
  });
}

/** The pages that differ from those that were written now. */
function stalePages(): string[] {
  const pages = [reference, out].map((folder) => globSync('**/*.md', { cwd: folder }));
  const read = (folder: string, page: string) => readFileSync(join(folder, page), 'utf8');
  return [...new Set(pages.flat())].filter(
    (page) => !pages.every((each) => each.includes(page)) || read(reference, page) !== read(out, page),
  );
}
