import { warn } from '../errors/warn.ts';
import { redactReplyHeaders, redactRequestHeaders, redactUrl } from '../redaction/redact-request.ts';
import { bodySentOnce } from './body-sent-once.ts';
import { type Call, secretsOf } from './call.ts';
import type { CallState } from './call-state.ts';
import type { ResolvedClientOptions } from './client-options.ts';
import { AttemptFailure, classifyFetchError, outcomeOfStatus } from './outcome.ts';
import { type ReadReply, readReply, replyHead } from './reply.ts';
import { isUnheard, unheardStatus } from './retry-rules.ts';

/**
 * Sends one attempt of a call and reads its reply to the end. What comes of it is kept in the state; ky gets as much as
 * it needs to decide whether to repeat.
 *
 * @param signal aborted when the attempt takes too long, or by the caller
 */
export async function sendAttempt(
  signal: AbortSignal,
  call: Call<unknown>,
  client: ResolvedClientOptions,
  state: CallState,
): Promise<Response> {
  // Aborted between attempts or before the first: nothing is sent, so this is not an attempt.
  signal.throwIfAborted();
  const attempt = state.begin();
  observeRequest(call, client, attempt);
  const started = client.now();
  let reply: ReadReply;
  try {
    const response = await client.fetch(call.url, {
      method: call.method,
      headers: call.headers,
      redirect: 'manual',
      credentials: 'omit',
      signal,
      ...(call.body !== undefined && bodySentOnce(call.body, call.headers)),
    });
    state.arrive(attempt, replyHead(response));
    reply = await readReply(response, client.maxReplyBytes);
  } catch (error) {
    const failed = classifyFetchError(error);
    state.settle(attempt, failed.outcome);
    throw failed;
  }
  observeResponse(call, client, { attempt, reply, started });
  return handOver(reply, attempt, state);
}

/** What ky needs to decide whether to repeat: the reply's status. */
function handOver(reply: ReadReply, attempt: number, state: CallState): Response {
  const ok = reply.status >= 200 && reply.status < 300;
  if (ok && reply.failure !== undefined) {
    state.settle(attempt, 'unknown', reply);
    throw new AttemptFailure(
      reply.failure === 'too_large' ? 'reply_too_large' : 'network_error',
      'unknown',
      reply.cause,
    );
  }
  state.settle(attempt, ok ? 'not-sent' : outcomeOfStatus(reply.status), reply);
  return new Response(null, { status: isUnheard(reply.status) ? unheardStatus : reply.status });
}

function observeRequest(call: Call<unknown>, { onRequest }: ResolvedClientOptions, attempt: number): void {
  observe('onRequest', onRequest, () => ({
    ...shown(call, attempt),
    headers: redactRequestHeaders(call.headers, secretsOf(call)),
    bodyBytes: call.body === undefined ? 0 : new TextEncoder().encode(call.body).byteLength,
  }));
}

function observeResponse(
  call: Call<unknown>,
  { onResponse, now }: ResolvedClientOptions,
  { attempt, reply, started }: { attempt: number; reply: ReadReply; started: number },
): void {
  observe('onResponse', onResponse, () => ({
    ...shown(call, attempt),
    status: reply.status,
    headers: redactReplyHeaders(reply.headers, secretsOf(call)),
    durationMs: now() - started,
  }));
}

function shown({ operation, method, url }: Call<unknown>, attempt: number) {
  return { operation, method, url: redactUrl(url), attempt };
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
