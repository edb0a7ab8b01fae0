import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../checks/entries.ts';

/** llms.txt: what docs/README.md lists, for readers that are programs. */
export function llmsText(): string {
  const contents = readFileSync(join(root, 'docs', 'README.md'), 'utf8');
  const sections = contents.slice(contents.indexOf('\n## ')).trim();
  return `# partner-exchange-sdk

> TypeScript SDK for partners of a crypto-buy exchange and its messenger one-time-code service: typed clients, request signing, verified order events, webhooks, durable inboxes, an order journal, one-time codes and a sandbox. Node 22.12 or later, Bun, Deno, Workers; server side only; ESM. It has met no real deployment yet: with one, first [learn how it signs and answers](docs/guides/learn.md).

Begin with [the skill](skills/partner-exchange/SKILL.md): rules, programs and proofs. More for coding agents: [AGENTS.md](AGENTS.md). Examples that run are in the folder \`examples\`.

${sections.replaceAll(/\]\((?!https:)/g, '](docs/').replaceAll('docs/../', '')}
`;
}

if (import.meta.main) writeFileSync(join(root, 'llms.txt'), llmsText());
