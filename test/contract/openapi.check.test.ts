import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { operationNames, operations } from '../../src/deployment/operations.ts';
import { orderEventNames } from '../../src/events/event-names.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import { root } from '../../tools/checks/entries.ts';
import { readExamples, readJson, readSchemas } from './contract-check.ts';

// Sound: the generator writes this form.
const document = readJson('contract/openapi.json') as unknown as {
  paths: Record<string, Record<string, JsonObject>>;
  webhooks: Record<string, JsonObject>;
  components: { schemas: Record<string, JsonObject> };
};

const config = await createConfig({
  extends: ['recommended-strict'],
  rules: {
    'no-invalid-media-type-examples': 'error',
    'no-invalid-schema-examples': 'error',
    // The published paths end so.
    'no-path-trailing-slash': 'off',
  },
});

/** What two validators of different origin find: the official schema, and Redocly's own walk with its rules. */
async function problemsOf(text: string): Promise<unknown[]> {
  const { errors = [] } = await new Validator().validate(JSON.parse(text));
  const absoluteRef = join(root, 'contract', 'openapi.json');
  const found = await lintFromString({ source: text, absoluteRef, config });
  return [
    ...[errors].flat(),
    ...found.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`),
  ];
}

describe('the OpenAPI document', () => {
  it('is valid under two validators, examples included', async () => {
    expect(await problemsOf(JSON.stringify(document))).toEqual([]);
  });

  it('would be refused with an example of another type', async () => {
    const changed = JSON.stringify(document).replace('"fiat_amount":"15000.50"', '"fiat_amount":1');
    expect(await problemsOf(changed)).not.toEqual([]);
  });

  it('has eight operations of the table, and the ninth as a webhook for each event', () => {
    const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [operationId, method.toUpperCase(), path]),
    );
    const table = operationNames.map((name) => [
      name,
      operations[name].method,
      operations[name].path ?? '/{number_check_path}',
    ]);
    expect(listed).toEqual(table);
    expect(Object.keys(document.webhooks)).toEqual(orderEventNames);
  });

  it('has the schemas of contract/schemas', () => {
    for (const [name, { $schema: _, title, 'x-in': where, ...schema }] of readSchemas()) {
      if (where === 'query') continue;
      expect(document.components.schemas[String(title)], name).toEqual(schema);
    }
  });

  it('has every example of a body', () => {
    const bodies = readExamples().filter(({ text, schema }) => schema !== null && text.startsWith('{'));
    const text = JSON.stringify(document);
    expect(bodies.filter(({ name }) => !text.includes(`"${name}":{"value":`))).toEqual([]);
  });
});
