import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/internal/json.ts';
import { sandboxTable } from '../../../tools/documents/api-table.ts';
import { allowedBy } from './openapi-bodies.ts';
import { type Story, startStory } from './story.ts';

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { content: { 'application/json': { schema: JsonObject } } };
  readonly responses: JsonObject;
  readonly security: readonly unknown[];
}

interface Posted {
  readonly method: string;
  readonly path: string;
  readonly body: object;
}

let story: Story;
let document: JsonObject;
let operations: readonly { method: string; path: string; operation: Operation }[];
let allowed: fc.Arbitrary<Posted>;
let refusals: readonly Awaited<ReturnType<Story['api']>>[];
const validators = new Map<string, ValidateFunction>();
const runs = { numRuns: 150 };

beforeAll(async () => {
  story = await startStory();
  await story.order('A-1');
  document = (await story.api('openapi.json')).body;
  refusals = await Promise.all(['orders?limit=x', 'trace/999', 'reset'].map((path) => story.api(path)));
  // Sound: the first test checks its form.
  const paths = document.paths as unknown as Record<string, Record<string, Operation>>;
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const ajv = new Ajv2020({ strict: true, validateFormats: false, allowUnionTypes: true });
  const bodies = operations.flatMap(({ method, path, operation: { requestBody } }) => {
    if (requestBody === undefined) return [];
    const { schema } = requestBody.content['application/json'];
    validators.set(path, ajv.compile(schema));
    return [allowedBy(schema).map((body) => ({ method, path, body: body as object }))];
  });
  expect(bodies).toHaveLength(5);
  allowed = fc.oneof(...bodies);
});
afterAll(() => story[Symbol.asyncDispose]());

describe('the OpenAPI document', () => {
  it('is one of version 3.1 with an operation for every endpoint, of which it names every parameter', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.servers).toEqual([{ url: `${story.server.url}/_sandbox` }]);
    const documented = operations.map(({ path, method }) => `${method} ${path}`);
    expect(documented.sort()).toEqual(
      sandboxTable()
        .map(({ method, path }) => `${method} /${path}`)
        .sort(),
    );
    for (const { path, operation } of operations) {
      const inPath = operation.parameters.filter((parameter) => parameter.in === 'path');
      expect(inPath.map(({ name }) => name)).toEqual(
        [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      );
    }
  });

  it('says that what changes something needs the token, and that reading may need it from elsewhere', () => {
    for (const { method, operation } of operations)
      expect(operation.security).toEqual(method === 'GET' ? [{}, { token: [] }] : [{ token: [] }]);
  });

  it('describes a refusal as it is', () => {
    const { responses } = operations[0]?.operation ?? expect.unreachable();
    // Sound: the form of every operation.
    const refusal = responses.default as { content: { 'application/json': { schema: object } } };
    const validate = new Ajv2020().compile(refusal.content['application/json'].schema);
    expect(refusals.map(({ status, body }) => [status, validate(body)])).toEqual([
      [400, true],
      [404, true],
      [405, true],
    ]);
  });
});

async function statusOf({ method, path, body }: Posted): Promise<number> {
  const filled = path.slice(1).replace('{order}', 'A-1').replace('{id}', 'delivery-1');
  return (await story.api(filled, body, method)).status;
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
        async ({ posted, change }) => {
          const body = change(posted.body);
          fc.pre(validators.get(posted.path)?.(body) === false);
          const status = await statusOf({ ...posted, body });
          expect(status).toBeGreaterThanOrEqual(400);
          expect(status).toBeLessThan(500);
        },
      ),
      runs,
    );
  });
});
