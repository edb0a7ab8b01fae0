import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { VerificationKey } from '../../../../credentials/verification-keys.ts';
import { wholeMessage } from '../../../../errors/errors.ts';
import type { SignatureScheme } from '../../../../signature/signature-scheme.ts';
import { tryVerify } from '../../../../signature/try-verify.ts';
import type { MismatchExplanation } from '../../../diagnostics/mismatch/mismatch-explanation.ts';
import { controlHandler } from '../../../sandbox/control/control-api.ts';
import { type ControlEndpoint, endpoint } from '../../../sandbox/control/control-endpoint.ts';
import type { ExaminedSignature } from '../../../sandbox/control/examine-signature.ts';
import { editedCopySchema, extentSchema, maxCopyBytes } from '../../../sandbox/control/schemas.ts';
import { extentOf, trafficEndpoints } from '../../../sandbox/control/traffic-endpoints.ts';
import { Refusal } from '../../../sandbox/requests.ts';
import { answerRequests, startHttpServer } from '../../../sandbox/server/http-server.ts';
import type { TraceEntry } from '../../../sandbox/trace.ts';
import type { NoAnswer, ReceiverAnswer } from '../../deliveries/post-delivery.ts';
import type { SavedRequest } from '../../deliveries/saved-deliveries.ts';
import { CliError } from '../../terminal/context.ts';
import type { Verdict } from './handle-request.ts';
import type { ReceivedTrace, TracedDelivery } from './received-trace.ts';

interface InspectorOptions {
  readonly port: number;
  readonly trace: ReceivedTrace;
  /** Needed for everything except the page, since real events can be read here. */
  readonly token: string;
  readonly scheme: SignatureScheme;
  /** `undefined` without keys. */
  readonly ring: readonly VerificationKey[] | undefined;
  readonly explain: (body: Uint8Array) => MismatchExplanation;
  readonly verify: (body: Uint8Array) => Verdict;
  /** Posts an event again; `undefined` without a receiver. */
  readonly post: ((delivery: SavedRequest) => Promise<ReceiverAnswer | NoAnswer>) | undefined;
}

/**
 * The inspector of `listen`. It has its own port, on loopback alone: the port for events may be reached from
 * outside, through a tunnel whose connections come from this machine. Its address has the token behind the `#`, where
 * no server sees it.
 */
export async function startInspector({ port, token, ...options }: InspectorOptions) {
  const serve = controlHandler({
    source: 'listen',
    path: '/',
    token,
    from: 'loopback',
    isSecret: true,
    endpoints: listenEndpoints(options),
  });
  const server = await startHttpServer({
    port,
    host: '127.0.0.1',
    maxBodyBytes: maxCopyBytes,
    answer: answerRequests(serve),
  }).catch((cause: Error & { code?: string }) => {
    if (cause.code !== 'EADDRINUSE') throw cause;
    throw new CliError('The port of the inspector is in use: choose another with --inspector-port.', {
      cause,
    });
  });
  return { url: `${server.url}/#token=${token}`, close: () => server.close('at once') };
}

function listenEndpoints(options: Omit<InspectorOptions, 'port' | 'token'>): readonly ControlEndpoint[] {
  const { trace, ring, post, verify } = options;
  const instance = randomUUID();

  /** An entry, with the verdict on its signature. */
  function show(entry: TraceEntry): object {
    const traced = entry.kind === 'event' ? trace.find(entry.id) : undefined;
    if (traced === undefined) return entry;
    const delivery = post && String(entry.id);
    const { body } = traced.delivery;
    const isExact = Buffer.from(entry.body ?? '').equals(body);
    const bodyBase64 = isExact ? undefined : Buffer.from(body).toString('base64');
    return { ...entry, bodyBase64, delivery, signature: traced.verdict.signature };
  }

  function tracedOf(id: number): TracedDelivery {
    const traced = trace.find(id);
    if (traced === undefined)
      throw new Refusal(404, 'unknown_entry', 'No event has this id, or it was forgotten.');
    return traced;
  }

  return [
    endpoint({
      id: 'getState',
      method: 'GET',
      path: 'state',
      summary: 'Which run of listen this is, and how far its trace goes',
      answer: z.object({ instance: z.string(), trace: extentSchema }),
      handle: () => ({ instance, trace: extentOf(trace.view) }),
    }),
    ...trafficEndpoints({
      trace: trace.view,
      show,
      examine({ exchange }) {
        const traced = trace.find(exchange);
        return traced && examine(traced, options);
      },
      readingsOf: ({ exchange }) => trace.find(exchange)?.verdict.readings,
      explain({ exchange }) {
        const { delivery } = tracedOf(exchange);
        if (ring === undefined) throw new Refusal(409, 'no_keys', 'There are no keys to explain it with.');
        return options.explain(delivery.body);
      },
      send: post && {
        summary: 'Posts an edited copy of an event, to the receiver; its signature stays',
        body: editedCopySchema,
        refusals: [404],
        async post({ exchange }, edit) {
          const { delivery } = tracedOf(exchange);
          const body = edit.body === undefined ? delivery.body : Buffer.from(edit.body);
          const headers = edit.headers === undefined ? delivery.headers : Object.entries(edit.headers);
          const copy = { ...delivery, headers, body };
          const answer = await post(copy);
          const sent = trace.addReplay(exchange, answer, { delivery: copy, verdict: verify(body) });
          return { exchange: sent, ...postResult(answer) };
        },
      },
    }),
    ...(post === undefined
      ? []
      : [
          endpoint({
            id: 'redeliver',
            method: 'POST',
            path: 'deliveries/{id}/redeliver',
            summary: 'Posts the bytes of an event again, to the receiver',
            answer: z.object({ status: z.int().optional(), error: z.string().optional() }),
            refusals: [404],
            async handle({ params }) {
              const id = Number(params.id);
              const answer = await post(tracedOf(id).delivery);
              trace.addReplay(id, answer);
              return postResult(answer);
            },
          }),
        ]),
  ];
}

function postResult(answer: ReceiverAnswer | NoAnswer) {
  return answer.status === undefined ? { error: answer.problem } : { status: answer.status };
}

/** Whether the signature holds, and with which key; `undefined` without keys. */
function examine(
  { delivery, verdict }: TracedDelivery,
  { ring, scheme }: Pick<InspectorOptions, 'ring' | 'scheme'>,
): ExaminedSignature | undefined {
  if (ring === undefined) return undefined;
  const keys = ring.map(({ text }) => text);
  const { refusal, text } = tryVerify(delivery.body, keys, scheme);
  if (refusal !== undefined) {
    const reason = { code: refusal.code, message: wholeMessage(refusal) };
    return { holds: false, reason, differences: [] };
  }
  const { merchant } = verdict;
  const key = merchant === undefined ? 'order key' : `order key of merchant ${merchant}`;
  return { holds: true, key, signedText: text, differences: [] };
}
