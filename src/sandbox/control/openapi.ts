import * as z from 'zod';
import type { JsonObject } from '../../internal/json.ts';
import { controlPath } from '../server/http-server.ts';
import { changeEndpoints } from './change-endpoints.ts';
import type { Endpoint } from './endpoint.ts';
import { readEndpoints, traceQuery } from './read-endpoints.ts';
import { refusal } from './schemas.ts';

const traceStream: Endpoint = {
  id: 'streamTrace',
  method: 'GET',
  path: 'trace/stream',
  summary:
    'The trace as server-sent events, from the oldest entry that is kept; go on with Last-Event-ID or `after`',
  query: traceQuery,
  body: undefined,
  answer: z.string(),
  refusals: [503],
  handle: () => undefined,
};

/** The OpenAPI 3.1 document of what is under `/_sandbox/`, made of the endpoints themselves. */
export function openApiDocument(origin: string): JsonObject {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas: Record<string, unknown> = {};
  const all = [
    ...readEndpoints.map((each) => ({ each, changes: false })),
    { each: traceStream, changes: false },
    ...changeEndpoints.map((each) => ({ each, changes: true })),
  ];
  for (const { each, changes } of all) {
    const path = `/${each.path}`;
    paths[path] = { ...paths[path], [each.method.toLowerCase()]: operation(each, changes, schemas) };
  }
  schemaOf(refusal, schemas);
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Sandbox',
      version: '1',
      description:
        'What the sandbox of partner-exchange-sdk tells of itself, and how to move it. Local by default. What changes it needs the token that listen() returns, and from another machine everything does.',
    },
    servers: [{ url: origin + controlPath.slice(0, -1) }],
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } }, schemas },
  };
  // Sound: literals, and JSON Schemas that zod wrote; `undefined` members are dropped.
  return JSON.parse(JSON.stringify(document)) as JsonObject;
}

function operation(each: Endpoint, changes: boolean, schemas: Record<string, unknown>) {
  const statuses = [400, 401, 403, ...each.refusals, 405, ...(each.body ? [413, 415] : [])];
  const content = each.id === traceStream.id ? 'text/event-stream' : 'application/json';
  return {
    operationId: each.id,
    summary: each.summary,
    parameters: parametersOf(each, schemas),
    requestBody: each.body && {
      required: true,
      content: { 'application/json': { schema: schemaOf(each.body, schemas, 'input') } },
    },
    responses: {
      200: { description: 'Done', content: { [content]: { schema: schemaOf(each.answer, schemas) } } },
      ...Object.fromEntries(statuses.map((status) => [status, refused])),
    },
    // What is read needs the token only from another machine (`inspector: 'any'`).
    security: [...(changes ? [] : [{}]), { token: [] }],
  };
}

const refused = {
  description: 'Refused',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } },
};

function parametersOf({ path, query }: Endpoint, schemas: Record<string, unknown>) {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, type]) => {
    // Sound: every member of an object schema is a schema.
    const { description, ...schema } = schemaOf(type as z.ZodType, schemas);
    return { name, in: 'query', required: false, description, schema };
  });
  return [...inPath, ...inQuery];
}

/** A schema as JSON Schema 2020-12, which OpenAPI 3.1 uses; those with a name go to the components. */
function schemaOf(
  type: z.ZodType,
  schemas: Record<string, unknown>,
  io: 'input' | 'output' = 'output',
): JsonObject {
  const { $schema: _, $defs = {}, ...schema } = z.toJSONSchema(type, { io });
  const named = schema.id === undefined ? $defs : { ...$defs, [schema.id]: schema };
  for (const [name, { id: _, ...definition }] of Object.entries(named)) {
    schemas[name] = withComponents(definition);
  }
  return withComponents(schema.id === undefined ? schema : { $ref: `#/$defs/${schema.id}` });
}

/** With its references leading to the components of the document. */
function withComponents(schema: object): JsonObject {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/');
  // Sound: it was an object.
  return JSON.parse(text) as JsonObject;
}
