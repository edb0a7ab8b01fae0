import type * as z from 'zod';

/** One endpoint: the source of the router and of the table in docs/inspector.md. */
export interface ControlEndpoint {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the path of the API. A segment in braces is a parameter: `orders/{order}/advance`. */
  readonly path: string;
  readonly summary: string;
  readonly query?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
  /** Called after query and body have passed their schemas. Returns a {@link Response} for other types than JSON. */
  readonly handle: (call: ControlCall<object, unknown>) => unknown;
}

export interface ControlCall<Query, Body> {
  /** The address of this server that the caller used, e.g. `http://127.0.0.1:4010`. */
  readonly origin: string;
  /** The decoded parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
}

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** Types the call of the handler by its schemas. */
export function endpoint<
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(
  definition: Omit<ControlEndpoint, 'query' | 'body' | 'handle'> & {
    query?: Query;
    body?: Body;
    handle: (call: ControlCall<OutputOf<Query>, OutputOf<Body>>) => unknown;
  },
): ControlEndpoint {
  // Sound: the router passes the output of these two schemas.
  return definition as unknown as ControlEndpoint;
}
