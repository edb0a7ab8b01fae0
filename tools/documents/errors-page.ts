import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { refusalCauses, replyCauses } from '../../src/client/likely-causes.ts';
import { errorCauses } from './error-causes.ts';
import { meanings, pageRemedies } from './error-meanings.ts';
import { remedies } from './error-tables.ts';

/** The codes of a class, with what they mean and what to do. */
type Codes = Readonly<Record<string, string>>;

const intro = `# Errors: find yours, see why, mend it

For everybody with an error of this package. Search this page for its \`code\`: every message ends with a link to it. A \`code\` is stable: [clients](details/clients.md#errors) shows how to branch on it. Causes stand in the order of their likelihood. Where a command does what a function does, the command line names it behind the message.

This page is generated from \`src/errors/remedies.ts\` (\`npm run docs:errors\`).
`;

/** What holds for every code of a class. */
const notes: Readonly<Record<string, string>> = {
  RequestRefusal:
    '\n\nThe webhooks answer these before they verify a body: the response and `onDelivery` have the code, and the first of each is a process warning.',
  SignatureError:
    '\n\nTo find out why a body was refused, capture it as received (`onRefused` of [the webhooks](details/webhooks.md#capture-a-refused-body)). On your own machine `explainMismatch(rawBody, { credentials, scheme: deployment.signature })` says what would have matched; where the scheme is not known yet, `learn({ deliveries: [{ body: rawBody }], credentials })` finds it. Both are in `partner-exchange-sdk/diagnostics`; on the command line they are `partner-exchange verify` and `partner-exchange learn`.',
};

/** What a section is called where its key is no class. */
const titles: Readonly<Record<string, string>> = { RequestRefusal: 'Requests that the webhooks refuse' };

/** docs/errors.md, from the table of remedies. */
export function errorsPage(): string {
  const shown = new Set<string>();
  const sections = Object.entries<Codes>(remedies).flatMap(([kind, codes]) => [
    `## ${titles[kind] ?? kind}${notes[kind] ?? ''}`,
    ...Object.keys(codes)
      // A code of two classes has one anchor.
      .filter((code) => !shown.has(code) && shown.add(code))
      .map((code) => `### ${code}\n\n${kindsWith(code).join('\n\n')}`),
  ]);
  return `${[intro.trimEnd(), ...sections, likely()].join('\n\n')}\n`;
}

function causesOf(code: string): string {
  // Every code of the table has a row: a missing one does not compile.
  const known: Readonly<Record<string, readonly string[]>> = errorCauses;
  const found = known[code] ?? [];
  return `**${found.length === 1 ? 'Cause' : 'Causes'}:** ${found.join('; ')}.`;
}

function kindsWith(code: string): string[] {
  const kinds = Object.entries<Codes>(remedies).filter(([, codes]) => code in codes);
  // Every code of the table has a row in both: a missing one does not compile.
  const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = meanings;
  const more: Readonly<Record<string, string>> = pageRemedies;
  return kinds.map(([kind, codes]) => {
    const owner =
      kinds.length > 1 ? `${kind in titles ? 'As a refusal of the webhooks' : `Of \`${kind}\``}: ` : '';
    return `${owner}${texts[kind]?.[code]}\n\n${kind === kinds[0]?.[0] ? `${causesOf(code)}\n\n` : ''}${advice(codes[code] || (more[code] ?? ''))}${linkToCauses(code)}`;
  });
}

function advice(text: string): string {
  return `**What to do:** ${text}`;
}

function linkToCauses(code: string): string {
  return code === 'http_error' || code === 'reply_not_accepted'
    ? ' See the [likely causes](#likely-causes-of-a-refusal).'
    : '';
}

function likely(): string {
  const rows = [...refusalCauses, ...Object.values(replyCauses)].map(
    ({ words, ids }) => `| ${words} | ${ids.map((id) => `\`${id}\``).join(', ')} |`,
  );
  return `## Likely causes of a refusal

A message of \`http_error\` names those that the operation and the status point to, the likeliest first; \`assumptions\` of the error has their ids in the [ledger](assumptions.md). Besides these, a 404 or 405 can mean another address: check the base URL and the path.

| cause | ids |
|---|---|
${rows.join('\n')}`;
}

if (import.meta.main) writeFileSync(join(import.meta.dirname, '..', '..', 'docs', 'errors.md'), errorsPage());
