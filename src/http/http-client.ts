import ky, { isHTTPError, isTimeoutError } from 'ky';
import { plainIssue } from '../deployment/plain-issue.ts';
import { isStandardSchema, type StandardResult } from '../deployment/standard-schema.ts';
import { warn } from '../errors/warn.ts';
import { checkNames } from '../options/check-names.ts';
import { checkTimerMs, invalidOption } from '../options/check-values.ts';
import {
  redactReplyHeaders,
  redactRequestHeaders,
  redactUrl,
  sensitiveValues,
} from '../redaction/redact-request.ts';
import { backoffDelay } from '../runtime/backoff.ts';
import { withBodySentOnce } from './body-sent-once.ts';
import { type Call, callOptionNames } from './call.ts';
import { CallState } from './call-state.ts';
import type { ResolvedClientOptions } from './client-options.ts';
import { failure } from './failure.ts';
import { AttemptFailure, classifyFetchError, outcomeOfStatus } from './outcome.ts';
import { type ReadReply, type Reply, readReply, replyHead } from './reply.ts';
import { retryAfterMs } from './retry-after.ts';

/** The statuses after which a request may be sent again. */
const repeatableStatuses = {
  always: [408, 429, ...Array.from({ length: 100 }, (_, index) => 500 + index)],
  'unless-acted': [429],
  'unless-sent': [],
} as const satisfies Record<Call<unknown>['repeat'], readonly number[]>;

/** Replaces a status that a Response object refuses: 999, or 100 where a runtime passes it on. */
const unheardStatus = 599;

/**
 * Sends a call, keeps its time limits, repeats it where that is safe, and returns its reply.
 *
 * ky does the timing and repeating. Each attempt reads its own reply to the end, so that the time limit covers it.
 *
 * @throws {ConfigurationError} `invalid_option` for malformed options of the call, before anything is sent
 * @throws {RequestError}
 */
export async function sendCall<Body>(given: Call<Body>, client: ResolvedClientOptions): Promise<Reply<Body>> {
  checkCallOptions(given);
  const call = { ...given, secrets: [...given.secrets, ...sensitiveValues(given.headers)] };
  const state = new CallState(call.before);
  if (call.options.signal?.aborted) {
    throw failure(call, state, {
      code: 'aborted',
      outcome: state.outcome,
      cause: call.options.signal.reason,
    });
  }
  try {
    await ky(call.url, {
      method: call.method,
      headers: call.headers,
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

function checkCallOptions({ operation, options }: Call<unknown>): void {
  checkNames(operation, options, callOptionNames);
  const { signal, timeoutMs, schema } = options;
  if (timeoutMs !== undefined) checkTimerMs('timeoutMs', timeoutMs);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalidOption('signal must be an AbortSignal.');
  }
  if (schema !== undefined && !isStandardSchema(schema)) {
    throw invalidOption('schema must be a Standard Schema (zod, valibot, arktype …).');
  }
}

async function attempt(
  input: string | URL | Request,
  call: Call<unknown>,
  client: ResolvedClientOptions,
  state: CallState,
): Promise<Response> {
  const request = input instanceof Request ? input : new Request(input);
  // Aborted between attempts or before the first: nothing is sent, so this is not an attempt.
  request.signal.throwIfAborted();
  const number = state.begin();
  const shown = { operation: call.operation, method: call.method, url: redactUrl(call.url), attempt: number };
  observe('onRequest', client.onRequest, () => ({
    ...shown,
    headers: redactRequestHeaders(request.headers, call.secrets),
    bodyBytes: call.body === undefined ? 0 : new TextEncoder().encode(call.body).byteLength,
  }));
  const started = client.now();
  let reply: ReadReply;
  try {
    const sent = call.body === undefined ? request : withBodySentOnce(request, call.body);
    const response = await client.fetch(sent);
    state.arrive(number, replyHead(response));
    reply = await readReply(response, client.maxReplyBytes);
  } catch (error) {
    const failed = classifyFetchError(error);
    state.settle(number, failed.outcome);
    throw failed;
  }
  observe('onResponse', client.onResponse, () => ({
    ...shown,
    status: reply.status,
    headers: redactReplyHeaders(reply.headers, call.secrets),
    durationMs: client.now() - started,
  }));
  return handOver(reply, number, state);
}

/** What ky needs to decide whether to repeat: the reply's status. */
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
  return new Response(null, { status: isUnheard(reply.status) ? unheardStatus : reply.status });
}

function isUnheard(status: number): boolean {
  return status < 200 || status > 599;
}

function retryRules(call: Call<unknown>, client: ResolvedClientOptions, state: CallState) {
  const { firstDelayMs, maxDelayMs } = client.retry;
  const asked = () => askedToWait(state, client);
  return {
    // ky counts only the repetitions.
    limit: client.maxAttempts - 1,
    methods: [call.method.toLowerCase()],
    statusCodes: [...repeatableStatuses[call.repeat]],
    // ky would read several headers, use its own clock and set no limit. We read Retry-After ourselves.
    afterStatusCodes: [],
    delay: (attemptCount: number) =>
      asked() ?? backoffDelay(attemptCount, { firstDelayMs, maxDelayMs }, client.random),
    backoffLimit: maxDelayMs,
    shouldRetry: ({ error }: { error: Error }) => {
      if (isHTTPError(error)) {
        // `undefined` lets the list of statuses above decide.
        return (asked() ?? 0) > maxDelayMs || isUnheard(state.reply?.status ?? 200) ? false : undefined;
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

function askedToWait(state: CallState, client: ResolvedClientOptions): number | undefined {
  return state.reply === undefined ? undefined : retryAfterMs(state.reply.headers, client.now());
}

async function finish<Body>(call: Call<Body>, state: CallState): Promise<Reply<Body>> {
  const reply = state.reply;
  if (reply === undefined) throw new TypeError('A call ended without a reply.');
  const { status, headers, body } = reply;
  const schema = call.options.schema;
  // Sound: without a schema the type parameter is `unknown`, which any body fits.
  if (schema === undefined) return { status, headers, body: body as Body };
  const nonconforming = {
    code: 'reply_nonconforming',
    outcome: 'unknown',
    assumptions: ['replies'],
  } as const;
  let result: StandardResult<Body>;
  try {
    result = await schema['~standard'].validate(body);
  } catch (cause) {
    // The service has acted, and an exception from the caller's schema must not hide that.
    const issues = [{ message: 'the schema threw instead of answering', path: [] }];
    throw failure(call, state, { ...nonconforming, issues, cause });
  }
  if (result.issues === undefined) return { status, headers, body: result.value };
  const issues = result.issues.map((issue) => plainIssue(issue, body));
  throw failure(call, state, { ...nonconforming, issues });
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
      retryAfterMs: askedToWait(state, client),
    });
  }
  if (isTimeoutError(error)) {
    // If time runs out between two attempts, the last reply is known.
    return failure(call, state, { code: 'timeout', outcome, retryAfterMs: askedToWait(state, client) });
  }
  if (error instanceof AttemptFailure) {
    return failure(call, state, { code: error.code, outcome, cause: error.cause });
  }
  return failure(call, state, { code: 'network_error', outcome, cause: error });
}

function observe<Observation>(
  name: string,
  observer: ((observation: Observation) => void) | undefined,
  observation: () => Observation,
): void {
  if (observer === undefined) return;
  // Runs at once, and also catches the rejection of an async observer.
  (async () => observer(observation()))().catch((error: unknown) => {
    warn(`${name} threw ${error instanceof Error ? error.name : typeof error}; the request goes on.`);
  });
}
