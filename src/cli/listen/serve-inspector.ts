import { randomUUID } from 'node:crypto';
import type { VerificationKey } from '../../credentials/verification-keys.ts';
import type { MismatchExplanation } from '../../diagnostics/mismatch/mismatch-explanation.ts';
import { isSignatureError } from '../../errors/errors.ts';
import {
  isLoopback,
  requireOwnPage,
  requireToken,
  withApiHeaders,
} from '../../sandbox/control/caller-checks.ts';
import { notAllowed, pageReply, traceStream } from '../../sandbox/control/control-api.ts';
import type { ExaminedSignature } from '../../sandbox/control/examine-signature.ts';
import { exchangeOf, extentOf } from '../../sandbox/control/read-endpoints.ts';
import { errorReply, jsonReply, Refusal } from '../../sandbox/requests.ts';
import type { ServeControl } from '../../sandbox/server/http-server.ts';
import type { TraceEntry } from '../../sandbox/trace.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';
import { verifyBody } from '../../signature/verify-body.ts';
import type { Delivery } from '../deliveries.ts';
import type { Answer, NoAnswer } from '../post-delivery.ts';
import type { ReceivedTrace, TracedDelivery } from './received-trace.ts';

export interface InspectorOptions {
  readonly trace: ReceivedTrace;
  /** What every request but that for the page has to carry: what can be read here are real events. */
  readonly token: string;
  readonly scheme: SignatureScheme;
  /** `undefined` without keys. */
  readonly ring: readonly VerificationKey[] | undefined;
  /** Says why a signature does not match. */
  readonly explain: (body: Uint8Array) => MismatchExplanation;
  /** Posts an event again; `undefined` if there is no receiver. */
  readonly post: ((delivery: Delivery) => Promise<Answer | NoAnswer>) | undefined;
}

/** Each holds a connection for as long as its reader likes. */
const maxStreams = 16;
/** An explanation tries thousands of combinations with the body, while nothing is received. */
const maxExplainedBytes = 16 * 1024;

/** Answers the inspector's page: the part of a sandbox's API that has to do with its traffic. */
export function createServeInspector(options: InspectorOptions): ServeControl {
  const { trace, token, ring, post } = options;
  const instance = randomUUID();
  let streams = 0;

  function stream(after: number): Response {
    if (streams >= maxStreams)
      throw new Refusal(503, 'too_many_streams', `At most ${maxStreams} streams are open at once.`);
    streams += 1;
    const onEnd = () => {
      streams -= 1;
    };
    const body = traceStream(trace.view, {
      after,
      show: (entry) => ({ ...shown(entry), headers: undefined, body: undefined }),
      onEnd,
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }

  /** An entry, with what the page shows of an event besides. */
  function shown(entry: TraceEntry): object {
    const traced = entry.kind === 'event' ? trace.find(entry.id) : undefined;
    if (traced === undefined) return entry;
    const delivery = post && String(entry.id);
    return { ...entry, delivery, signature: traced.verdict.signature };
  }

  async function redeliver(id: number, post: NonNullable<InspectorOptions['post']>) {
    const answer = await post(tracedOf(id).delivery);
    trace.addReplay(id, answer);
    return answer.status === undefined ? { error: answer.problem } : { status: answer.status };
  }

  function tracedOf(id: number): TracedDelivery {
    const traced = trace.find(id);
    if (traced === undefined)
      throw new Refusal(404, 'unknown_entry', 'No event has this id, or not any more.');
    return traced;
  }

  async function answer(request: Request, ip: string): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (!isLoopback(ip)) throw new Refusal(403, 'not_loopback', 'Only this machine is answered here.');
    requireOwnPage(request, { isPage: pathname === '/' });
    if (pathname === '/') return pageReply(request, 'listen');
    requireToken(request, token);
    const [, kind, id = '', action] = /^\/(trace|deliveries)\/(\d{1,15})(?:\/(\w+))?$/.exec(pathname) ?? [];
    if (kind === 'deliveries' && action === 'redeliver' && post !== undefined) {
      if (request.method !== 'POST') throw notAllowed(['POST']);
      return jsonReply(200, await redeliver(Number(id), post));
    }
    if (request.method !== 'GET') throw notAllowed(['GET']);
    if (pathname === '/state') return jsonReply(200, { instance, trace: extentOf(trace.view) });
    if (pathname === '/trace/stream') return stream(Math.max(0, Number(searchParams.get('after')) || 0));
    if (kind === 'trace' && action === undefined) {
      const entries = exchangeOf(trace.view, id);
      const signature = examine(tracedOf(entries[0]?.exchange ?? 0), options);
      return plainJson({ entries: entries.map(shown), signature });
    }
    if (kind === 'trace' && action === 'explanation') {
      const { body } = tracedOf(Number(id)).delivery;
      if (ring === undefined) throw new Refusal(409, 'no_keys', 'There are no keys to explain it with.');
      if (body.byteLength > maxExplainedBytes)
        throw new Refusal(
          409,
          'body_too_large',
          `Only bodies of at most ${maxExplainedBytes} bytes are explained.`,
        );
      return plainJson(options.explain(body));
    }
    throw new Refusal(404, 'not_found', 'Nothing is at this path.');
  }

  return async (request, { ip }) => withApiHeaders(await answer(request, ip).catch(errorReply));
}

function plainJson(value: object): Response {
  return Response.json(value, { headers: { 'cache-control': 'no-store' } });
}

/** Whether the signature holds, and with which key; `undefined` without keys. */
function examine(
  { delivery, verdict }: TracedDelivery,
  { ring, scheme }: InspectorOptions,
): ExaminedSignature | undefined {
  if (ring === undefined) return undefined;
  try {
    const { text } = verifyBody(delivery.body, { key: ring.map(({ text }) => text), scheme });
    const { merchant } = verdict;
    const key = merchant === undefined ? 'order key' : `order key of merchant ${merchant}`;
    return { holds: true, key, signedText: text, differences: [] };
  } catch (error) {
    if (!isSignatureError(error)) throw error;
    return { holds: false, reason: { code: error.code, message: error.message }, differences: [] };
  }
}
