import * as z from 'zod';
import type { JsonObject } from '../../../internal/json.ts';
import type { ControlEndpoint } from './control-endpoint.ts';

/** The OpenAPI 3.1 document of a table of endpoints. Answers are described by their summary alone. */
export function openApiDocument({
  url,
  table,
}: {
  url: string;
  table: readonly ControlEndpoint[];
}): JsonObject {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of table) {
    const path = `/${endpoint.path}`;
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(endpoint) };
  }
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Sandbox inspector',
      version: '1',
      description:
        'The API of the inspector of partner-exchange-sdk. Lists begin with the newest item. Requests that change something need the token of the inspector, and from another machine all requests do.',
    },
    servers: [{ url }],
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };
  // Sound: literals, and JSON Schemas that zod wrote; `undefined` members are dropped.
  return JSON.parse(JSON.stringify(document)) as JsonObject;
}

function operation({ method, path, summary, query, body, content }: ControlEndpoint) {
  return {
    summary,
    parameters: [...pathParameters(path), ...queryParameters(query)],
    requestBody: body && { required: true, content: { 'application/json': { schema: schemaOf(body) } } },
    responses: {
      200: { description: summary, content: { [content ?? 'application/json']: {} } },
      default: refusal,
    },
    security: [...(method === 'GET' ? [{}] : []), { token: [] }],
  };
}

const text = { type: 'string' };

const refusal = {
  description: 'Refused: a stable code, and the reason',
  content: {
    'application/json': {
      schema: { type: 'object', properties: { error: text, message: text }, required: ['error', 'message'] },
    },
  },
};

function pathParameters(path: string) {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: text,
  }));
}

function queryParameters(query: z.ZodObject | undefined) {
  return Object.entries(query?.shape ?? {}).map(([name, type]) => {
    // Sound: every member of an object schema is a schema.
    const { description, ...schema } = schemaOf(type as z.ZodType);
    return { name, in: 'query', required: false, description, schema };
  });
}

/** JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
function schemaOf(type: z.ZodType): JsonObject {
  const { $schema: _, ...schema } = z.toJSONSchema(type, { io: 'input' });
  // Sound: a schema is plain JSON.
  return schema as JsonObject;
}
