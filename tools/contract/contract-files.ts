import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { eventDocuments, requestDocuments } from './documents.ts';
import { eventReference } from './event-reference.ts';
import { contractExamples } from './examples.ts';
import { openApiDocument } from './openapi.ts';

/**
 * Every file of the contract as data, and the reference of events, by path below the checkout. Made of the operation table, the schemas, their
 * doc comments and the assumption ledger.
 */
export function contractFiles(): ReadonlyMap<string, string> {
  const events = eventDocuments();
  const documents = [...events, ...requestDocuments()];
  const examples = contractExamples(events.map(({ name }) => name));
  return new Map([
    ['contract/openapi.json', json(openApiDocument(examples))],
    ...documents.map(({ name, schema }) => [`contract/schemas/${name}.json`, json(schema)] as const),
    ['docs/events.md', eventReference()],
    ...examples.map((each) => [`contract/examples/${each.name}.json`, json(each)] as const),
  ]);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** `npm run contract` */
if (import.meta.main) {
  const files = contractFiles();
  const top = join(import.meta.dirname, '..', '..');
  rmSync(join(top, 'contract'), { recursive: true, force: true });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(top, path)), { recursive: true });
    writeFileSync(join(top, path), text);
  }
}
