import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEntries, repositoryFiles, root } from '../checks/entries.ts';

/** llms.txt: what docs/README.md lists, with a link to the reference of each entry, for readers that are programs. */
export function llmsText(): string {
  const contents = readFileSync(join(root, 'docs', 'README.md'), 'utf8');
  const sections = contents.slice(contents.indexOf('\n## ')).trim();
  const reference = readEntries().map(({ subpath, specifier }) => {
    const page = subpath === '.' ? 'index' : subpath.slice(2);
    return `- [${specifier}](${repositoryFiles}docs/reference/${page}.md)`;
  });
  return `# partner-exchange-sdk

> TypeScript SDK for partners of a crypto-buy exchange and its messenger one-time-code service: typed clients, request signing, verified order events, webhooks, durable inboxes, an order journal, one-time codes and a sandbox. Node 22.12 or later, Bun, Deno, Workers; server side only; ESM.

How to work with this package: [AGENTS.md](AGENTS.md). Examples that run are in the folder \`examples\`.

${sections.replaceAll(/\]\((?!https:)/g, '](docs/').replaceAll('docs/../', '')}

## Reference of each entry

${reference.join('\n')}
`;
}

if (import.meta.main) writeFileSync(join(root, 'llms.txt'), llmsText());
