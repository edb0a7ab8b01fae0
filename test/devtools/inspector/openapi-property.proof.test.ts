import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/internal/json.ts';
import { allowedBy } from './openapi-bodies.ts';
import { type Story, startStory } from './story.ts';

/** It posts to any address: other tests are about it. */
const left: readonly string[] = ['sendEdited'];
const runs = { numRuns: 150 };

interface Posted {
  readonly path: string;
  readonly body: object;
}

let story: Story;
let allowed: fc.Arbitrary<Posted>;
const validators = new Map<string, ValidateFunction>();

beforeAll(async () => {
  story = await startStory();
  await story.order('A-1');
  // Sound: openapi.integration.test.ts checks its form.
  const document = (await story.api('openapi.json')).body as unknown as {
    paths: Record<string, Record<string, { operationId: string; requestBody?: RequestBody }>>;
    components: { schemas: JsonObject };
  };
  const { schemas } = document.components;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(localised({ $id: 'document', $defs: schemas }));
  const bodies = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).flatMap(({ operationId, requestBody }) => {
      const schema = requestBody?.content['application/json'].schema;
      if (schema === undefined || left.includes(operationId)) return [];
      validators.set(path, ajv.compile(localised(schema)));
      return [allowedBy(schema, schemas).map((body) => ({ path, body: body as object }))];
    }),
  );
  expect(bodies.length).toBeGreaterThan(5);
  allowed = fc.oneof(...bodies);
});
afterAll(() => story[Symbol.asyncDispose]());

interface RequestBody {
  readonly content: { readonly 'application/json': { readonly schema: JsonObject } };
}

/** With its references where ajv finds them. */
function localised(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"document#/$defs/'));
}

async function statusOf({ path, body }: Posted): Promise<number> {
  return (await story.api(path.slice(1).replace('{order}', 'A-1'), body)).status;
}

/** A body with one thing changed that may be forbidden. */
const changed = fc
  .tuple(fc.nat(), fc.constantFrom<unknown>(-1, 1.5, 2 ** 53, 'nonsense', '', null, true, [], {}))
  .map(([at, other]) => (body: object): object => {
    const names = Object.keys(body);
    const name = [...names, 'unexpected'][at % (names.length + 1)] ?? '';
    return { ...body, [name]: other };
  });

/** A member that is left out. */
const shortened = fc.nat().map((at) => (body: object): object => {
  const entries = Object.entries(body);
  return Object.fromEntries(entries.filter((_, index) => index !== at % Math.max(1, entries.length)));
});

/** The bodies are known once the document was read. */
const anyAllowed = fc.constant(undefined).chain(() => allowed);

describe('the control API', { timeout: 60_000 }, () => {
  it('never fails at what its OpenAPI document allows', async () => {
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(anyAllowed, async (posted) => {
        const status = await statusOf(posted);
        seen.add(status);
        expect([status, validators.get(posted.path)?.(posted.body)]).toEqual([status, true]);
        expect(status).toBeLessThan(500);
      }),
      runs,
    );
    expect([...seen]).toContain(200);
  });

  it('takes nothing that its OpenAPI document forbids, and never fails at it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ posted: anyAllowed, change: fc.oneof(changed, shortened) }),
        async ({ posted: { path, body }, change }) => {
          const forbidden = change(body);
          fc.pre(validators.get(path)?.(forbidden) === false);
          const status = await statusOf({ path, body: forbidden });
          expect(status).toBeGreaterThanOrEqual(400);
          expect(status).toBeLessThan(500);
        },
      ),
      runs,
    );
  });
});
