import type * as z from 'zod';

/** One endpoint: the router, the OpenAPI document, the table in docs/inspector.md and the tests are made from it. */
export interface Endpoint {
  /** `operationId` of the OpenAPI document. */
  readonly id: string;
  readonly method: 'GET' | 'POST';
  /** Below the address of the API; a segment in braces is a parameter: `orders/{order}/advance`. */
  readonly path: string;
  readonly summary: string;
  readonly query: z.ZodObject | undefined;
  readonly body: z.ZodType | undefined;
  readonly answer: z.ZodType;
  /** Of the answer. Whatever is not JSON is a {@link Response} of the handler. */
  readonly content: 'application/json' | 'text/event-stream' | 'text/html';
  /** Statuses of its refusals besides those that all endpoints have. */
  readonly refusals: readonly number[];
  /** Query and body have passed their schemas. */
  handle(call: ControlCall & { query: object; body: unknown }): unknown;
}

export interface ControlCall {
  readonly request: Request;
  /** The address that the caller used, e.g. `http://127.0.0.1:4010`. */
  readonly origin: string;
  /** The parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** Makes an endpoint whose handler gets what its schemas return. */
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
    // Sound: the router passes what these two schemas have returned.
    handle: (call) => handle(call as Parameters<typeof handle>[0]),
  };
}
