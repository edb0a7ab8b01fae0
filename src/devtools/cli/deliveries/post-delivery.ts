import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { codeOf } from '../../../errors/errors.ts';
import { printableText } from '../../../internal/printable-text.ts';
import { withoutHopHeaders } from '../../sandbox/hop-headers.ts';
import type { CliContext } from '../terminal/context.ts';
import type { Paint } from '../terminal/terminal-text.ts';
import type { SavedRequest } from './saved-deliveries.ts';

export interface ReceiverAnswer {
  readonly status: number;
  readonly headers: SavedRequest['headers'];
  readonly body: Uint8Array;
  readonly durationMs: number;
}

export interface NoAnswer {
  readonly status: undefined;
  /** The system's code, such as `ECONNREFUSED`, `timeout`, or why the delivery cannot be sent. */
  readonly problem: string;
  readonly durationMs: number;
}

interface PostOptions {
  readonly url: URL;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Reads at most this much of an answer. */
const maxAnswerBytes = 1024 * 1024;

/**
 * Posts exactly what the service sent. fetch would add headers, and respell others.
 */
export function createPoster(now: () => number) {
  const options = { keepAlive: true, maxSockets: 64 };
  const http = new HttpAgent(options);
  const https = new HttpsAgent(options);
  return {
    /** Posts a delivery byte for byte, with its headers. Never rejects, never follows a redirect. */
    post: (delivery: PostedDelivery, { url, timeoutMs, signal }: PostOptions) =>
      new Promise<ReceiverAnswer | NoAnswer>((resolve) => {
        const startedAt = now();
        const timeout = AbortSignal.timeout(timeoutMs);
        const noAnswer = (problem: string) =>
          resolve({ status: undefined, problem, durationMs: now() - startedAt });
        const fail = (error: unknown) => noAnswer(timeout.aborted ? 'timeout' : codeOf(error) || 'unknown');
        const { headers, body } = delivery;
        const isSecure = url.protocol === 'https:';
        let outgoing: ClientRequest;
        try {
          outgoing = (isSecure ? requestHttps : requestHttp)(url, {
            method: 'POST',
            path: pathAt(url, delivery),
            agent: isSecure ? https : http,
            headers: [
              ...['host', url.host],
              ...withoutHopHeaders(headers).flat(),
              ...['content-length', String(body.byteLength)],
            ],
            signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
          });
        } catch (error) {
          // Node names the header, and not its value.
          noAnswer(`cannot be sent: ${error instanceof Error ? error.message : 'unknown'}`);
          return;
        }
        outgoing.once('error', fail);
        // Without this listener Node closes the connection and emits no event.
        outgoing.once('upgrade', (_, socket) => {
          socket.destroy();
          noAnswer('status 101');
        });
        outgoing.once('response', (incoming) => {
          readAnswer(incoming).then((read) => resolve({ ...read, durationMs: now() - startedAt }), fail);
        });
        outgoing.end(body);
      }),
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

async function readAnswer(incoming: IncomingMessage): Promise<Omit<ReceiverAnswer, 'durationMs'>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size > maxAnswerBytes) break;
    chunks.push(chunk);
  }
  // Node gives every answer a status.
  const { statusCode = 502, rawHeaders } = incoming;
  return { status: statusCode, headers: pairsOf(rawHeaders), body: Buffer.concat(chunks) };
}

/** The headers of a message of node:http, in their order and spelling. */
export function pairsOf(rawHeaders: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    pairs.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '']);
  }
  return pairs;
}

type PostedDelivery = Pick<SavedRequest, 'target' | 'headers' | 'body'>;

/**
 * Where a delivery goes at an address: to the path of the address, or without one to the path that the delivery came
 * to. The query of the delivery follows that of the address.
 */
function pathAt({ pathname, search }: URL, { target = '/' }: Pick<SavedRequest, 'target'>): string {
  const end = target.indexOf('?');
  const [path, query] = end === -1 ? [target, ''] : [target.slice(0, end), target.slice(end + 1)];
  const queries = [search.slice(1), query].filter((text) => text !== '');
  return [pathname === '/' ? path : pathname, ...(queries.length > 0 ? [queries.join('&')] : [])].join('?');
}

/** Posts deliveries one after the other, until the user stops the command. */
export async function postEach<Each extends PostedDelivery>(
  { now, signal }: Pick<CliContext, 'now' | 'signal'>,
  deliveries: Iterable<Each> | AsyncIterable<Each>,
  {
    to: url,
    timeoutMs,
    onAnswer,
  }: {
    readonly to: URL;
    readonly timeoutMs: number;
    readonly onAnswer: (delivery: Each, answer: ReceiverAnswer | NoAnswer) => void | Promise<void>;
  },
): Promise<void> {
  const poster = createPoster(now);
  try {
    for await (const delivery of deliveries) {
      if (signal.aborted) break;
      // A bare body has no headers.
      const headers = delivery.headers.length === 0 ? jsonHeaders : delivery.headers;
      const answer = await poster.post({ ...delivery, headers }, { url, timeoutMs, signal });
      await onAnswer(delivery, answer);
    }
  } finally {
    poster.close();
  }
}

const jsonHeaders = [['content-type', 'application/json']] as const;

export function answerItem(answer: ReceiverAnswer | NoAnswer) {
  const { status, durationMs } = answer;
  return { status, problem: 'problem' in answer ? answer.problem : undefined, durationMs };
}

export function describeReceiverAnswer(answer: ReceiverAnswer | NoAnswer, paint: Paint): string {
  const duration = `${Math.round(answer.durationMs)} ms`;
  if (answer.status === undefined)
    return paint('red', `no answer (${printableText(answer.problem)}, ${duration})`);
  const isFine = isSuccess(answer);
  return `${paint(isFine ? 'green' : 'red', String(answer.status))} (${duration})`;
}

/** Whether the receiver counts the delivery as received (assumption `callback-reply`). */
export function isSuccess({ status }: Pick<ReceiverAnswer, 'status'> | NoAnswer): boolean {
  return status !== undefined && status >= 200 && status < 300;
}
