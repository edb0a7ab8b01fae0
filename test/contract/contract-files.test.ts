import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { assumptions } from '../../src/deployment/assumptions.ts';
import { operationNames } from '../../src/deployment/operations.ts';
import { orderEventNames } from '../../src/events/event-names.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/internal/json.ts';
import { root } from '../../tools/checks/entries.ts';
import { contractFiles } from '../../tools/contract/contract-files.ts';
import { describeSchema } from '../../tools/contract/describe-schema.ts';

const files = contractFiles();
const schemas = [...files].filter(([path]) => path.startsWith('contract/schemas/'));

/** Every described member of a schema. */
function members(value: JsonValue | undefined): [string, JsonObject][] {
  if (Array.isArray(value)) return value.flatMap(members);
  if (!isJsonObject(value)) return [];
  const own = isJsonObject(value.properties) ? Object.entries(value.properties) : [];
  return [
    ...own.flatMap(([name, member]): [string, JsonObject][] =>
      isJsonObject(member) ? [[name, member]] : [],
    ),
    ...Object.values(value).flatMap(members),
  ];
}

describe('the contract as data', () => {
  it('is what `npm run contract` writes', () => {
    const written = globSync(['contract/**/*.json'], { cwd: root }).sort();
    expect(written).toEqual([...files.keys()].filter((path) => path.startsWith('contract/')).sort());
    for (const [path, text] of files) expect(readFileSync(join(root, path), 'utf8'), path).toBe(text);
  });

  it('has a schema of each event and of each request', () => {
    const names = [...orderEventNames, ...operationNames].map((name) => `contract/schemas/${name}.json`);
    expect(schemas.map(([path]) => path).sort()).toEqual(names.sort());
  });

  it.each(schemas)('says of each member what it is and where that is from: %s', (_, text) => {
    const schema: JsonObject = JSON.parse(text);
    expect(schema).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
    for (const [name, member] of members(schema)) {
      expect(member.description, name).toMatch(/\w/);
      expect(['published', 'reported', 'assumed'], name).toContain(member['x-source']);
      const entry = assumptions.find(({ id }) => id === member['x-assumption']);
      expect(entry?.statement, name).toBe(member['x-assumption-statement']);
      // What the contract does not show has an entry in the ledger.
      if (member['x-source'] !== 'published') expect(entry, name).toBeDefined();
    }
  });

  it('tells published, reported and assumed apart', () => {
    const sources = (file: string) => {
      const all = members(JSON.parse(files.get(`contract/schemas/${file}.json`) ?? ''));
      return Object.fromEntries(all.map(([name, member]) => [name, member['x-source']]));
    };
    expect(sources('createOrder')).toMatchObject({ fiat_amount: 'reported', signature: 'published' });
    expect(sources('event.buy.init')).toMatchObject({ pair: 'published' });
    expect(sources('event.buy.third_party_error')).toMatchObject({
      ...{ event_name: 'published', signature: 'published', pair: 'assumed' },
    });
  });
});

describe('a schema that JSON Schema cannot express', () => {
  const member = { text: 'A member.', source: 'published', ledger: undefined } as const;
  const describe = (inner: z.ZodType) =>
    describeSchema({
      name: 'event.test',
      title: 'Test',
      schema: z.looseObject({ outer: z.looseObject({ inner }) }),
      doc: {
        text: 'A test.',
        ledger: undefined,
        members: new Map([['outer', { ...member, members: new Map([['inner', member]]) }]]),
      },
      sample: {},
    });

  it.each([
    ['a date', z.date()],
    ['a transform', z.string().transform(Number)],
    ['a refinement', z.string().refine((text) => text !== 'x')],
    ['flags of a pattern', z.string().regex(/a/i)],
  ])('is refused with the path of the member: %s', (_, inner) => {
    expect(() => describe(inner)).toThrow(/^event\.test\.outer\.inner cannot be expressed in JSON Schema/);
  });

  it('is refused with the path where a doc comment or a unit is missing', () => {
    expect(() => describe(z.number())).toThrow('event.test.outer.inner has no unit');
    expect(() => describe(z.looseObject({ deep: z.string() }))).toThrow(
      'event.test.outer.inner.deep has no doc comment',
    );
    expect(() => describe(z.string())).not.toThrow();
  });
});
