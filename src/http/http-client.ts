import ky, { isHTTPError, isTimeoutError } from 'ky';
import type { Operation } from '../deployment/paths.ts';
import { issuePath, type StandardSchema } from '../deployment/standard-schema.ts';
import { RequestError, type RequestErrorDetails, type RequestOutcome } from '../errors/request-error.ts';
import { warn } from '../errors/warn.ts';
import type { ResolvedClientOptions } from './client-options.ts';
import { AttemptFailure, classifyFetchError, outcomeOfStatus, worseOutcome } from './outcome.ts';
import { redactError, redactHeaders, redactUrl } from './redact.ts';
import { type ReadReply, type Reply, readReply } from './reply.ts';
import { retryAfterMs } from './retry-after.ts';
import { suspects } from './suspects.ts';

/** Options of a single call. */
export interface CallOptions<Body = unknown> {
  /** Ends the call. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for each attempt. @default the client's `timeoutMs` */
  timeoutMs?: number | undefined;
  /** Checks and types the reply's body: any Standard Schema. */
  schema?: StandardSchema<unknown, Body> | undefined;
}

/** One request of an operation. */
export interface Call<Body> {
  readonly operation: Operation;
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Headers;
  /** Exactly what goes over the wire. */
  readonly body?: string | undefined;
  /**
   * `always` for what can be repeated without harm; `unless-acted` for what may only be repeated when the
   * service has certainly not acted.
   */
  readonly repeat: 'always' | 'unless-acted';
  /** Never shown in an error, whatever the transport's own errors say. */
  readonly secrets: readonly string[];
  readonly options: CallOptions<Body>;
}

/** The statuses after which a request may be sent again. */
const repeatableStatuses = {
  always: [408, 429, ...Array.from({ length: 100 }, (_, index) => 500 + index)],
  'unless-acted': [429],
} as const satisfies Record<Call<unknown>['repeat'], readonly number[]>;

/** Statuses for which a Response object may not have, or be, anything. */
const highestStatus = 599;

/**
 * Sends a call under the rules for time-out, repetition and outcome, and returns its reply.
 *
 * ky keeps time and repeats; each attempt reads its own reply to the end, so that the time-out covers it.
 *
 * @throws {RequestError}
 */
export async function sendCall<Body>(call: Call<Body>, client: ResolvedClientOptions): Promise<Reply<Body>> {
  const state = new CallState();
  if (call.options.signal?.aborted) {
    throw failure(call, state, { code: 'aborted', outcome: 'not-sent', cause: call.options.signal.reason });
  }
  try {
    await ky(call.url, {
      method: call.method,
      headers: call.headers,
      body: call.body ?? null,
      redirect: 'manual',
      credentials: 'omit',
      signal: call.options.signal ?? null,
      timeout: call.options.timeoutMs ?? client.timeoutMs,
      totalTimeout: client.totalTimeoutMs,
      retry: retryRules(call, client, state),
      fetch: (input) => attempt(input, call, client, state),
    });
  } catch (error) {
    throw toRequestError(error, call, client, state);
  }
  return finish(call, state);
}

/** What is known of a call while its attempts go on. */
class CallState {
  attempts = 0;
  /** The least certain outcome of the attempts that have ended. */
  outcome: RequestOutcome = 'not-sent';
  reply: ReadReply | undefined;
  #inFlight = false;

  begin(): number {
    this.#inFlight = true;
    this.reply = undefined;
    return ++this.attempts;
  }

  /** Ignores an attempt that ky has given up on: its time-out is settled already. */
  settle(attempt: number, outcome: RequestOutcome, reply?: ReadReply): void {
    if (attempt !== this.attempts || !this.#inFlight) return;
    this.#inFlight = false;
    this.reply = reply;
    this.outcome = worseOutcome(this.outcome, outcome);
  }

  /** The attempt under way, if any, will not be waited for. */
  abandon(): RequestOutcome {
    this.settle(this.attempts, 'unknown');
    return this.outcome;
  }
}

async function attempt(
  input: string | URL | Request,
  call: Call<unknown>,
  client: ResolvedClientOptions,
  state: CallState,
): Promise<Response> {
  const request = input instanceof Request ? input : new Request(input);
  const number = state.begin();
  const shown = { operation: call.operation, method: call.method, url: redactUrl(call.url), attempt: number };
  observe('onRequest', client.onRequest, () => ({
    ...shown,
    headers: redactHeaders(request.headers),
    bodyBytes: call.body === undefined ? 0 : new TextEncoder().encode(call.body).byteLength,
  }));
  const started = client.now();
  let reply: ReadReply;
  try {
    reply = await readReply(await client.fetch(request), client.maxReplyBytes);
  } catch (error) {
    const failed = classifyFetchError(error);
    state.settle(number, failed.outcome);
    throw failed;
  }
  observe('onResponse', client.onResponse, () => ({
    ...shown,
    status: reply.status,
    headers: redactHeaders(reply.headers),
    durationMs: client.now() - started,
  }));
  return handOver(reply, number, state);
}

/** The reply as ky needs it to decide whether to go on: status and headers. */
function handOver(reply: ReadReply, number: number, state: CallState): Response {
  const ok = reply.status >= 200 && reply.status < 300;
  if (ok && reply.failure !== undefined) {
    state.settle(number, 'unknown', reply);
    throw new AttemptFailure(
      reply.failure === 'too_large' ? 'reply_too_large' : 'network_error',
      'unknown',
      reply.cause,
    );
  }
  state.settle(number, ok ? 'not-sent' : outcomeOfStatus(reply.status), reply);
  return new Response(null, { status: Math.min(reply.status, highestStatus), headers: reply.headers });
}

function retryRules(call: Call<unknown>, client: ResolvedClientOptions, state: CallState) {
  const { limit, baseDelayMs, maxDelayMs } = client.retry;
  return {
    limit,
    methods: [call.method.toLowerCase()],
    statusCodes: [...repeatableStatuses[call.repeat]],
    afterStatusCodes: [...repeatableStatuses[call.repeat]],
    delay: (attemptCount: number) => baseDelayMs * 2 ** (attemptCount - 1),
    backoffLimit: maxDelayMs,
    jitter: (delay: number) => delay * (0.5 + client.random() * 0.5),
    shouldRetry: ({ error }: { error: Error }) => {
      if (isHTTPError(error)) {
        const wait = retryAfterMs(error.response.headers, client.now()) ?? 0;
        // `undefined`: the lists of statuses above decide, and ky waits as long as the service asked.
        return wait > maxDelayMs || (state.reply?.status ?? 0) > highestStatus ? false : undefined;
      }
      if (error instanceof AttemptFailure) {
        if (error.code === 'reply_too_large') return false;
        return call.repeat === 'always' || error.outcome === 'not-sent';
      }
      state.abandon();
      return isTimeoutError(error) && call.repeat === 'always';
    },
  };
}

async function finish<Body>(call: Call<Body>, state: CallState): Promise<Reply<Body>> {
  const reply = state.reply;
  if (reply === undefined) throw new TypeError('A call ended without a reply.');
  const { status, headers, body } = reply;
  const schema = call.options.schema;
  // Without a schema the type parameter is `unknown`, which any body is.
  if (schema === undefined) return { status, headers, body: body as Body };
  const result = await schema['~standard'].validate(body);
  if (result.issues === undefined) return { status, headers, body: result.value };
  throw failure(call, state, {
    code: 'reply_nonconforming',
    outcome: 'unknown',
    assumptions: ['replies'],
    issues: result.issues.map((issue) => ({ message: issue.message, path: issuePath(issue) })),
  });
}

function toRequestError(
  error: unknown,
  call: Call<unknown>,
  client: ResolvedClientOptions,
  state: CallState,
): unknown {
  const outcome = state.abandon();
  if (call.options.signal?.aborted) return failure(call, state, { code: 'aborted', outcome });
  if (isHTTPError(error)) {
    const status = state.reply?.status ?? error.response.status;
    return failure(call, state, {
      code: status < 400 ? 'redirected' : 'http_error',
      outcome,
      retryAfterMs: retryAfterMs(error.response.headers, client.now()),
      assumptions: suspects(call.operation, status),
    });
  }
  if (isTimeoutError(error)) return failure(call, state, { code: 'timeout', outcome });
  if (error instanceof AttemptFailure) {
    return failure(call, state, { code: error.code, outcome, cause: error.cause });
  }
  return failure(call, state, { code: 'network_error', outcome, cause: error });
}

const advice = {
  'not-sent': 'It did not reach the service: it is safe to repeat.',
  refused: 'The service says that it did not act.',
  unknown: 'The service may have acted: find out before you repeat it.',
} as const satisfies Record<RequestOutcome, string>;

const whatHappened = {
  connection_failed: 'no connection could be made',
  network_error: 'the connection broke before a whole reply was read',
  timeout: 'no reply came in time',
  aborted: 'the call was aborted',
  redirected: 'the service answered with a redirect, which is not followed',
  http_error: 'the service answered with an error',
  reply_too_large: 'the reply is larger than maxReplyBytes',
  reply_nonconforming: 'the reply does not fit the schema given',
} as const satisfies Record<RequestErrorDetails['code'], string>;

type FailureDetails = Pick<RequestErrorDetails, 'code' | 'outcome' | 'assumptions' | 'issues' | 'cause'> & {
  retryAfterMs?: number | undefined;
};

function failure(call: Call<unknown>, state: CallState, details: FailureDetails): RequestError {
  const { retryAfterMs: wait, cause: original, ...rest } = details;
  const reply = state.reply;
  const cause = redactError(original, call.secrets);
  const url = redactUrl(call.url);
  const status = reply === undefined ? '' : ` (status ${reply.status})`;
  const ids = details.assumptions ?? [];
  const guesses = ids.length === 0 ? '' : ` Assumptions that may be wrong: ${ids.join(', ')}.`;
  const message = `${call.operation}: ${whatHappened[details.code]}${status}, ${call.method} ${url}. ${advice[details.outcome]}${guesses}`;
  return new RequestError(message, {
    ...rest,
    operation: call.operation,
    method: call.method,
    url,
    attempts: state.attempts,
    ...(reply && { status: reply.status, headers: reply.headers, body: reply.body }),
    ...(wait !== undefined && { retryAfterMs: wait }),
    ...(cause && { cause }),
  });
}

function observe<Observation>(
  name: string,
  observer: ((observation: Observation) => void) | undefined,
  observation: () => Observation,
): void {
  try {
    observer?.(observation());
  } catch (error) {
    warn(`${name} threw ${error instanceof Error ? error.name : typeof error}; the request goes on.`);
  }
}
