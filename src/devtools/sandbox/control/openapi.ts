import * as z from 'zod';
import type { JsonObject } from '../../../internal/json.ts';
import type { ControlEndpoint } from './control-endpoint.ts';
import { refusalSchema } from './schemas.ts';

interface Api {
  readonly title: string;
  readonly url: string;
  readonly table: readonly ControlEndpoint[];
  /** Whether reading always needs the token. */
  readonly isSecret: boolean;
}

/** The OpenAPI 3.1 document of a table of endpoints. */
export function openApiDocument({ title, url, table, isSecret }: Api): JsonObject {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas: Record<string, unknown> = {};
  for (const each of table) {
    const path = `/${each.path}`;
    paths[path] = { ...paths[path], [each.method.toLowerCase()]: operation(each, { schemas, isSecret }) };
  }
  schemaOf(refusalSchema, schemas);
  const document = {
    openapi: '3.1.0',
    info: {
      title,
      version: '1',
      description:
        'The API of the inspector of partner-exchange-sdk. Lists begin with the newest item. Requests that change something need the token of the inspector, and from another machine all requests do.',
    },
    servers: [{ url }],
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } }, schemas },
  };
  // Sound: literals, and JSON Schemas that zod wrote; `undefined` members are dropped.
  return JSON.parse(JSON.stringify(document)) as JsonObject;
}

function operation(
  each: ControlEndpoint,
  { schemas, isSecret }: { schemas: Record<string, unknown>; isSecret: boolean },
) {
  const statuses = [400, 401, 403, ...each.refusals, 405, ...(each.body ? [413, 415] : [])];
  return {
    operationId: each.id,
    summary: each.summary,
    parameters: parametersOf(each, schemas),
    requestBody: each.body && {
      required: true,
      content: { 'application/json': { schema: schemaOf(each.body, schemas, 'input') } },
    },
    responses: {
      200: { description: 'Done', content: { [each.content]: { schema: schemaOf(each.answer, schemas) } } },
      ...Object.fromEntries(statuses.map((status) => [status, refused])),
    },
    security: [...(each.method === 'GET' && !isSecret ? [{}] : []), { token: [] }],
  };
}

const refused = {
  description: 'Refused',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } },
};

function parametersOf({ path, query }: ControlEndpoint, schemas: Record<string, unknown>) {
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

/** A schema as JSON Schema 2020-12, the dialect of OpenAPI 3.1. Named ones go to the components. */
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

/** Redirects references to the components of the document. */
function withComponents(schema: object): JsonObject {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/');
  // Sound: it was an object.
  return JSON.parse(text) as JsonObject;
}
