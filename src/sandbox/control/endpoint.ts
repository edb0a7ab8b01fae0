import type * as z from 'zod';

/** One endpoint: the source of the router, the OpenAPI document, and the table in docs/inspector.md. */
export interface Endpoint {
  /** `operationId` of the OpenAPI document. */
  readonly id: string;
  readonly method: 'GET' | 'POST';
  /** Below the path of the API. A segment in braces is a parameter: `orders/{order}/advance`. */
  readonly path: string;
  readonly summary: string;
  readonly query: z.ZodObject | undefined;
  readonly body: z.ZodType | undefined;
  readonly answer: z.ZodType;
  /** Of the answer. For other types than JSON the handler returns a {@link Response}. */
  readonly content: 'application/json' | 'text/event-stream' | 'text/html';
  /** The statuses of its own refusals, besides those of all endpoints. */
  readonly refusals: readonly number[];
  /** Called after query and body have passed their schemas. */
  handle(call: ControlCall & { query: object; body: unknown }): unknown;
}

export interface ControlCall {
  readonly request: Request;
  /** The address of this server that the caller used, e.g. `http://127.0.0.1:4010`. */
  readonly origin: string;
  /** The decoded parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
}

export function endpoint<Query extends z.ZodObject, Body extends z.ZodType>(
  definition: Pick<Endpoint, 'id' | 'method' | 'path' | 'summary' | 'answer'> & {
    query?: Query;
    body?: Body;
    content?: Endpoint['content'];
    refusals?: readonly number[];
    handle: (call: ControlCall & { query: z.output<Query>; body: z.output<Body> }) => unknown;
  },
): Endpoint {
  const { query, body, content = 'application/json', refusals = [], handle, ...rest } = definition;
  return {
    ...rest,
    query,
    body,
    content,
    refusals,
    // Sound: the router passes the output of these two schemas.
    handle: (call) => handle(call as Parameters<typeof handle>[0]),
  };
}
