import { type Deployment, operationUrl } from '../deployment/define-deployment.ts';
import { type Operation, type OperationRules, operationRules } from '../deployment/operations.ts';
import type { OrderStatuses, ReceivedReply, ReplyVerdict } from '../deployment/order-reply.ts';
import type { RequestError } from '../errors/errors.ts';
import { isJsonObject, type JsonObject, tryParse } from '../internal/json.ts';
import { defineOptions } from '../internal/options.ts';
import { sensitiveValues } from '../internal/redaction.ts';
import { userAgent } from '../internal/user-agent.ts';
import { paymentMembers } from './accepted-order-reply.ts';
import { type CallOptions, callRows, type ReplySchema } from './call-options.ts';

export interface Call<Schema extends ReplySchema = ReplySchema> {
  readonly operation: Operation;
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** The path of the operation, for traces: it holds no value. */
  readonly urlTemplate: string | undefined;
  readonly headers: Headers;
  /** The exact text that is sent. */
  readonly body?: string | undefined;
  /** When it may be repeated: see the table of operations. */
  readonly repeat: OperationRules['repeat'];
  /** Never shown in an error. The headers hold more: {@link secretsOf}. */
  readonly secrets: readonly string[];
  readonly options: CallOptions<Schema>;
  /** Reads a 2xx reply to an order or a message. */
  readonly replyReader?: ReplyReader | undefined;
  /** What a reply has besides its body. Never throws. */
  readonly membersOf?: ((body: unknown) => object) | undefined;
  /** The outcome of an order for a status outside 2xx, where that differs from other calls. */
  readonly statuses?: OrderStatuses | undefined;
  /** How the service refused the same call with other keys: its attempts count. */
  readonly previousFailure?: RequestError | undefined;
}

/** Values to redact from any message about this call. */
export function secretsOf({ secrets, headers }: Call): string[] {
  return [...secrets, ...sensitiveValues(headers)];
}

/** Nothing leaves if the function fails. */
export function leftMsOf({ options: { leftMs } }: Call): number {
  if (leftMs === undefined) return Number.POSITIVE_INFINITY;
  try {
    const left = leftMs();
    return left > 0 ? left : 0;
  } catch {
    return 0;
  }
}

/** What a call adds to the rules of its operation. */
interface CallContent<Schema extends ReplySchema>
  extends Pick<Call<Schema>, 'body' | 'options' | 'previousFailure'> {
  /** Proves who calls. The rules say where it goes; an API key in the body is already there. */
  readonly credential?: string | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** Added to the headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Never shown in an error; credential, body and query are added to these. */
  readonly secrets?: readonly string[];
}

/**
 * @throws {ConfigurationError} `not_configured` when the deployment has no address for it, `invalid_option` for
 *   malformed options
 */
export function makeCall<Schema extends ReplySchema>(
  deployment: Deployment<unknown>,
  operation: Operation,
  content: CallContent<Schema>,
): Call<Schema> {
  const { method, authorization, repeat } = operationRules(operation);
  const { body, credential, previousFailure } = content;
  // Sound: reading keeps the schema that was given.
  const options = defineOptions(operation, callRows)(content.options) as CallOptions<Schema>;
  const url = new URL(operationUrl(deployment, operation));
  const prefix = prefixes[authorization];
  for (const [name, value] of Object.entries(content.query ?? {})) url.searchParams.set(name, value);
  const headers = new Headers({
    accept: 'application/json',
    'user-agent': userAgent,
    // The deployment may replace these two headers, but not those below.
    ...deployment.headers,
    ...content.headers,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(prefix !== undefined && credential !== undefined && { authorization: prefix + credential }),
  });
  const secrets = [
    ...(content.secrets ?? []),
    credential ?? '',
    body ?? '',
    url.search === '' ? '' : url.href,
  ];
  return {
    operation,
    method,
    url: url.href,
    urlTemplate: deployment.paths[operation],
    headers,
    body,
    repeat,
    secrets,
    options,
    previousFailure,
    replyReader: replyReaderOf(deployment, operation),
    ...(operation === 'createOrder' && {
      statuses: deployment.orderStatuses,
      membersOf: (body: unknown) => paymentMembers(body, deployment.wireNames),
    }),
  };
}

/** The master key goes bare, without a scheme in front (contract: Endpoints 6). */
const prefixes: { readonly [Kind in OperationRules['authorization']]?: string } = {
  'public-key': 'Bearer ',
  'master-key': '',
};

/** Reads the 2xx replies of an operation that has acted only if they do not deny it. */
export interface ReplyReader {
  /** The option of the deployment. */
  readonly option: 'readOrderReply' | 'readMessageReply';
  readonly read: (reply: ReceivedReply) => ReplyVerdict;
}

function replyReaderOf(deployment: Deployment<unknown>, operation: Operation): ReplyReader | undefined {
  if (operation === 'createOrder') return { option: 'readOrderReply', read: deployment.readOrderReply };
  if (operation === 'sendMessage') return { option: 'readMessageReply', read: deployment.readMessageReply };
  return undefined;
}

/** The order that a call posts, as JSON. */
export function postedOrder({ operation, body }: Call): JsonObject | undefined {
  const posted = operation === 'createOrder' ? tryParse(body ?? '') : undefined;
  return isJsonObject(posted) ? posted : undefined;
}
