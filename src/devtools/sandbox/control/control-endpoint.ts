import type * as z from 'zod';

/** One endpoint: the source of the router, the OpenAPI document, the commands, and the table in docs/inspector.md. */
export interface ControlEndpoint {
  /** `operationId` of the OpenAPI document. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the path of the API. A segment in braces is a parameter: `orders/{order}/advance`. */
  readonly path: string;
  readonly summary: string;
  readonly query: z.ZodObject | undefined;
  readonly body: z.ZodType | undefined;
  /** The limit of the body. */
  readonly maxBodyBytes: number;
  readonly answer: z.ZodType;
  /** The type of the answer. For other types than JSON the handler returns a {@link Response}. */
  readonly content: 'application/json' | 'text/event-stream' | 'text/html';
  /** The statuses of its own refusals, besides those of all endpoints. */
  readonly refusals: readonly number[];
  /** Called after query and body have passed their schemas. */
  readonly handle: (call: ControlCall & { query: object; body: unknown }) => unknown;
}

export interface ControlCall {
  readonly request: Request;
  /** The address of this server that the caller used, e.g. `http://127.0.0.1:4010`. */
  readonly origin: string;
  /** The decoded parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
}

/** Keeps the id and the schemas in the type: callers of the API read off it what a request takes and answers. */
export function endpoint<
  const Id extends string,
  Answer extends z.ZodType,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Subject = void,
>(
  definition: Pick<ControlEndpoint, 'method' | 'path' | 'summary'> & {
    id: Id;
    answer: Answer;
    query?: Query;
    body?: Body;
    maxBodyBytes?: number;
    content?: ControlEndpoint['content'];
    refusals?: readonly number[];
    handle: (
      call: ControlCall & { query: OutputOf<Query>; body: OutputOf<Body> },
      subject: Subject,
    ) => unknown;
  },
) {
  const { query, body, content = 'application/json', refusals = [], handle, ...rest } = definition;
  const { maxBodyBytes = 64 * 1024 } = definition;
  return {
    ...rest,
    // Sound: absent exactly if its type is undefined.
    query: query as Query,
    // Sound: as above.
    body: body as Body,
    maxBodyBytes,
    content,
    refusals,
    // Sound: the router passes the output of these two schemas.
    handle: (call: Parameters<ControlEndpoint['handle']>[0], subject: Subject) =>
      handle(call as Parameters<typeof handle>[0], subject),
  };
}

export type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;
