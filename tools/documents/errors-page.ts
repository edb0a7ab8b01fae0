import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandWords } from '../../src/config/command-words.ts';
import { causes, inWords, libraryWords, remedies, type Text } from '../../src/errors/remedies.ts';
import { meanings, pageRemedies } from './error-meanings.ts';
import { type Symptom, symptoms } from './error-symptoms.ts';

/** The codes of a class, with what they mean and what to do. */
type Codes = Readonly<Record<string, Text>>;

const intro = `# Errors: find yours, see why, mend it

For everybody with an error of this package. Search this page for the words of your message, or for its \`code\`. Every message ends with a link to its code here. \`code\` is stable: [clients](details/clients.md#errors) shows how to branch on it. The command line prints the same messages, with commands where the library names functions.

This page is generated from \`src/errors/remedies.ts\` (\`npm run docs:errors\`).
`;

/** What holds for every code of a class. */
const notes: Readonly<Record<string, string>> = {
  RequestRefusal:
    '\n\nThe webhooks answer these before they verify a body: the response and `onDelivery` have the code, and the first of each is a process warning.',
  SignatureError:
    '\n\nTo find out why a body was refused, capture it as received (`onRefused` of [the webhooks](details/webhooks.md#capture-a-refused-body)). On your own machine `explainMismatch(rawBody, { credentials, scheme: deployment.signature })` says what would have matched; where the scheme is not known yet, `detectScheme(rawBody, { partnerSecretKey, merchantSecretKey, partnerPublicKey })` finds it. Both are in `partner-exchange-sdk/diagnostics`; on the command line they are `partner-exchange explain` and `partner-exchange detect`.',
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
  return `${[intro.trimEnd(), index(), ...sections, likely()].join('\n\n')}\n`;
}

/** Messages in the order of their words, since a reader looks for a text. */
function index(): string {
  const rows = Object.entries(symptoms)
    .flatMap(([code, { messages }]) => messages.map((message) => ({ code, message })))
    .filter(({ message }) => /^(?:… |…: )?[^…]{8}/.test(message) && !message.endsWith('by its name'))
    .sort((one, other) => (wordsOf(one.message) < wordsOf(other.message) ? -1 : 1))
    .map(({ code, message }) => `| ${message} | [\`${code}\`](#${code}) |`);
  return `## Find it by its message

\`…\` stands for text that varies. A message that begins with the name of an option, a variable or a key says itself what is wrong with it: its code is \`invalid_option\`, \`invalid_deployment\`, \`invalid_environment\` or \`invalid_credentials\`.

| The message says | code |
|---|---|
${rows.join('\n')}`;
}

function wordsOf(message: string): string {
  return message.replace(/^[^A-Za-z]+/, '').toLowerCase();
}

function causesOf(code: string): string {
  // Every code of the table has a row: a missing one does not compile.
  const known: Readonly<Record<string, Symptom>> = symptoms;
  const found = known[code]?.causes ?? [];
  if (found.length === 1) return `**Cause:** ${found[0]}.`;
  return `**Causes, the likeliest first:**\n\n${found.map((cause, at) => `${at + 1}. ${cause[0]?.toUpperCase()}${cause.slice(1)}.`).join('\n')}`;
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

function advice(text: Text): string {
  const own = inWords(text, libraryWords);
  const onCommandLine = inWords(text, commandWords);
  if (own === onCommandLine) return `**What to do:** ${own}`;
  return `**What to do:** ${own}\n\n**On the command line:** ${onCommandLine}`;
}

function linkToCauses(code: string): string {
  return code === 'http_error' || code === 'reply_not_accepted'
    ? ' See the [likely causes](#likely-causes-of-a-refusal).'
    : '';
}

function likely(): string {
  const rows = Object.values<{ advice: Text; ids: readonly string[] }>(causes).map(
    ({ advice: text, ids }) => {
      const cited = ids.map((id) => `\`${id}\``).join(', ');
      return `| ${inWords(text, libraryWords)} | ${inWords(text, commandWords)} | ${cited} |`;
    },
  );
  return `## Likely causes of a refusal

A message of \`http_error\` names those that the status and the words of the reply point to, the likeliest first; \`assumptions\` of the error has their ids in the [ledger](assumptions.md). Besides these, a 401 or 403 can mean a key that the service does not know (any more), and a 404 or 405 another address: check the base URL and the path.

| cause | on the command line | ids |
|---|---|---|
${rows.join('\n')}`;
}

if (import.meta.main) writeFileSync(join(import.meta.dirname, '..', '..', 'docs', 'errors.md'), errorsPage());
