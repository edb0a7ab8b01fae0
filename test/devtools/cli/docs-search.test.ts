import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPackageFolder, readPages } from '../../../src/devtools/cli/commands/docs/installed-pages.ts';
import { searchDocs } from '../../../src/devtools/cli/commands/docs/search-docs.ts';
import { readDeclarations } from '../../../src/devtools/cli/commands/docs/shipped-declarations.ts';
import { remedies } from '../../../src/errors/remedies.ts';
import { orderEventNames } from '../../../src/events/event-names.ts';
import { root } from '../../../tools/checks/entries.ts';
import { commandsPage, commandWords } from '../../../tools/documents/commands-page.ts';
import { headingsOf } from '../../../tools/documents/references.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { partnerExchange } from './run-in-process.ts';

const pages = readPages(root);
const search = (words: string) => searchDocs(words.split(' '), { pages, declarations: () => [] });
const codes = new Set(Object.values(remedies).flatMap((own) => Object.keys(own)));

describe('docs/commands.md', () => {
  it('is made of the commands: npm run docs:commands writes it', async () => {
    expect(readFileSync(join(root, 'docs', 'commands.md'), 'utf8')).toBe(await commandsPage());
  });
});

describe('docs', () => {
  it.each([...codes])('finds the section of the error code %s first', (code) => {
    expect(search(code)[0]).toMatchObject({ kind: 'error', source: `docs/errors.md#${code}` });
  });

  it.each(orderEventNames)('finds the section of the event %s first', (event) => {
    expect(search(event)[0]).toMatchObject({ kind: 'event', title: event });
  });

  it('finds the section of each command first, also of one in a group', async () => {
    const commands = await commandWords();
    expect(commands).toEqual(expect.arrayContaining(['attack', 'sandbox', 'sandbox faults add']));
    const first = commands.map((command) => search(command)[0]);
    expect(first).toEqual(
      commands.map((command) => expect.objectContaining({ kind: 'command', title: command })),
    );
  });

  it('finds a section by its words, in any form, and the best one first', () => {
    expect(search('rotating key')[0]?.source).toBe('docs/guides/keys.md');
    expect(search('how do I run it in a container')[0]?.source).toMatch(/container(?:\.md)?$/);
  });

  it('gives each section the anchor of its heading, and each link the path from the package', () => {
    for (const { source } of pages) {
      const [file = '', anchor] = source.split('#');
      if (anchor !== undefined)
        expect([...headingsOf(readFileSync(join(root, file), 'utf8'))]).toContain(anchor);
    }
    expect(search('docs/guides/receive-events.md')[0]?.text).toMatch(/\]\(docs\/details\/webhooks\.md/);
  });

  it('reads a page or a section by its link, and without words the list of pages', () => {
    expect(search('docs/errors.md#aborted')).toMatchObject([{ kind: 'error', title: 'aborted' }]);
    const [page] = search('partner-exchange-sdk/docs/glossary.md');
    expect(page).toMatchObject({ kind: 'page', source: 'docs/glossary.md' });
    expect(page?.text).toContain('## ');
    expect(searchDocs([], { pages, declarations: () => [] })).toMatchObject([{ source: 'docs/README.md' }]);
  });

  it('leaves out pages that the package leaves out', () => {
    expect(pages.filter(({ source }) => /architecture|recipes|docs\/reference/.test(source))).toEqual([]);
  });
});

describe('an option', () => {
  const find = (words: string) =>
    searchDocs([words], { pages: [], declarations: () => readDeclarations(scratchPackage()) });

  it('is found with its comment, its type and the entry that exports it', () => {
    expect(find('maxBytes')).toEqual([
      {
        kind: 'option',
        title: 'HookOptions.maxBytes',
        source: 'HookOptions.maxBytes',
        text: '`HookOptions.maxBytes` of `partner-exchange-sdk/hooks`\n\n```ts\n/**\n * Most bytes.\n * @default 9\n */\nreadonly maxBytes?: number | undefined;\n```',
      },
    ]);
  });

  it('is found in each type that has it, and in one of them by the name of both', () => {
    expect(find('store').map(({ title }) => title)).toEqual(['HookOptions.store', 'Kept.store']);
    expect(find('Kept.store')).toHaveLength(1);
  });

  it('of several lines is whole, and so is a function', () => {
    expect(find('retry')[0]?.text).toContain('retry?: {\n    delay: number;\n};\n```');
    expect(find('createHooks')[0]?.text).toContain(
      'declare function createHooks(options: HookOptions): void;',
    );
  });

  it('is not mistaken for a member that is none, or that no entry exports', () => {
    expect(find('open')).toEqual([]);
    expect(find('Health.open')).toHaveLength(1);
    expect(find('hidden')).toEqual([]);
  });
});

describe('the command docs', () => {
  it('prints the section and names others', async () => {
    const { code, stdout } = await partnerExchange(['docs', 'not_configured']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^docs\/errors\.md#not_configured\n\n### not_configured\n[\s\S]*\nSee also/);
  });

  it('breaks sentences, and no code, at the width of a terminal', async () => {
    const { stdout } = await partnerExchange(['docs', 'docs/guides/receive-events.md'], {
      isTerminal: true,
      columns: 60,
      env: { NO_COLOR: '1' },
    });
    const prose = stdout.replaceAll(/^```[\s\S]*?^```$|^\|.*$/gm, '').split('\n');
    // A link is one word.
    expect(prose.filter((line) => line.length > 60 && / /.test(line.trim()))).toEqual([]);
  });

  it('prints JSON with the text of each result', async () => {
    const { stdout } = await partnerExchange(['docs', 'event.buy.init', '--format', 'json']);
    const { results } = JSON.parse(stdout);
    expect(results[0]).toEqual({
      kind: 'event',
      title: 'event.buy.init',
      source: 'docs/events.md#eventbuyinit',
      text: expect.stringMatching(/^## event\.buy\.init\n/),
    });
    expect(results.length).toBeGreaterThan(1);
  });

  it.each([
    ['outcome_unknwn', /: did you mean outcome_unknown\? Without words/],
    ['sk_partner_hidden9', /: use fewer or other words\. Without words/],
  ])('says of %s that nothing is found, does not repeat it, and ends with 1', async (word, message) => {
    const { code, stdout, stderr } = await partnerExchange(['docs', word]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain(word);
  });

  it('says what to do where the pages are not installed', () => {
    expect(() => findPackageFolder('/')).toThrow(
      /not installed beside this program: add the package with npm/,
    );
    expect(findPackageFolder()).toBe(root);
  });
});

function scratchPackage(): string {
  const folder = scratchFolder();
  mkdirSync(join(folder, 'dist'));
  const manifest = {
    name: 'partner-exchange-sdk',
    exports: { './hooks': { types: './dist/hooks.d.ts' }, './contract/*': './contract/*' },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    join(folder, 'dist', 'hooks.d.ts'),
    `import { H as HookOptions } from './shared.js';
export { H as HookOptions, K as Kept } from './shared.js';

interface Health {
    readonly open: number;
}
/** Makes hooks. */
declare function createHooks(options: HookOptions): void;

export { type Health, createHooks };
`,
  );
  writeFileSync(
    join(folder, 'dist', 'shared.d.ts'),
    `/** Options. */
interface HookOptions {
    /**
     * Most bytes.
     * @default 9
     */
    readonly maxBytes?: number | undefined;
    store: string;
    retry?: {
        delay: number;
    };
}
interface Kept {
    store?: string;
}
interface Hidden {
    hidden?: string;
}

export type { HookOptions as H, Kept as K };
`,
  );
  return folder;
}
