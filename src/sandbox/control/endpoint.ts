import type * as z from 'zod';
import type { Sandbox } from '../sandbox.ts';
import type { SandboxState } from '../state.ts';

/** The sandbox that an endpoint reads or changes. */
export interface ControlContext {
  readonly sandbox: Sandbox<unknown>;
  readonly state: SandboxState;
  /** The address that the caller used, e.g. `http://127.0.0.1:4010`. */
  readonly origin: string;
}

/** One endpoint under `/_sandbox/`: the source of the router, the OpenAPI document and the tests. */
export interface Endpoint {
  /** `operationId` of the OpenAPI document. */
  readonly id: string;
  readonly method: 'GET' | 'POST';
  /** Below `/_sandbox/`; a segment in braces is a parameter: `orders/{order}/advance`. */
  readonly path: string;
  readonly summary: string;
  readonly query: z.ZodObject | undefined;
  readonly body: z.ZodType | undefined;
  /** Of the JSON that it answers with. */
  readonly answer: z.ZodType;
  /** Statuses of its refusals besides those that all endpoints have. */
  readonly refusals: readonly number[];
  /** Query and body have passed their schemas. */
  handle(call: ControlContext & { params: Params; query: object; body: unknown }): unknown;
}

export type Params = Readonly<Record<string, string>>;

/** Makes an endpoint whose handler gets what its schemas return. */
export function endpoint<Query extends z.ZodObject, Body extends z.ZodType>(definition: {
  id: string;
  method: 'GET' | 'POST';
  path: string;
  summary: string;
  query?: Query;
  body?: Body;
  answer: z.ZodType;
  refusals?: readonly number[];
  handle: (
    call: ControlContext & { params: Params; query: z.output<Query>; body: z.output<Body> },
  ) => unknown;
}): Endpoint {
  const { query, body, refusals = [], handle, ...rest } = definition;
  return {
    ...rest,
    query,
    body,
    refusals,
    // Sound: the router passes what these two schemas have returned.
    handle: (call) => handle(call as Parameters<typeof handle>[0]),
  };
}
