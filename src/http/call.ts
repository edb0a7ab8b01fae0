import type { Operation, OperationRules } from '../deployment/operations.ts';
import type { StandardSchema } from '../deployment/standard-schema.ts';
import type { RequestError } from '../errors/request-error.ts';
import type { OptionNames } from '../options/check-names.ts';
import { sensitiveValues } from '../redaction/redact-request.ts';

/** Options of a single call. */
export interface CallOptions<Body = unknown> {
  /** Ends the call. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for each attempt. @default the client's `timeoutMs` */
  timeoutMs?: number | undefined;
  /** Checks the reply's body, and types it: any Standard Schema. Without one the body is `unknown`. */
  schema?: StandardSchema<unknown, Body> | undefined;
}

export const callOptionNames: OptionNames<CallOptions> = { signal: true, timeoutMs: true, schema: true };

/** Options of a call whose reply must fit a schema, which also gives the body its type. */
export interface CallOptionsWithSchema<Body> extends CallOptions<Body> {
  schema: StandardSchema<unknown, Body>;
}

/** One request of an operation. */
export interface Call<Body> {
  readonly operation: Operation;
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Headers;
  /** Exactly what goes over the wire. */
  readonly body?: string | undefined;
  /** When it may be repeated: see the table of operations. */
  readonly repeat: OperationRules['repeat'];
  /** Never shown in an error, even if an error of the transport quotes them. The headers hold more: {@link secretsOf}. */
  readonly secrets: readonly string[];
  readonly options: CallOptions<Body>;
  /** How the service refused the same call with other keys: its attempts count. */
  readonly before?: RequestError | undefined;
}

/** All that no text about a call may repeat. Gathered when there is such a text: most calls succeed. */
export function secretsOf({ secrets, headers }: Call<unknown>): string[] {
  return [...secrets, ...sensitiveValues(headers)];
}
