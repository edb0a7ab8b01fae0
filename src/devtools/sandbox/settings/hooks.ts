import * as z from 'zod';
import { ConfigurationError } from '../../../errors/errors.ts';
import type { OrderEventName } from '../../../events/order-event.ts';
import { findNonJson, isJsonObject, type JsonObject, type JsonValue } from '../../../internal/json.ts';
import { invalidOption } from '../../../internal/options.ts';
import type { SandboxOperation } from './faults.ts';
import type { SandboxReply } from './reply-forms.ts';

/** Changes a reply: see `reply` of `createSandbox`. @inline */
export type ReplyHook = (reply: SandboxReply, operation: SandboxOperation | undefined) => SandboxReply;

/** Changes the body of an event: see `event` of `createSandbox`. @inline */
export type EventHook = (
  body: JsonObject,
  name: OrderEventName,
) => { readonly [member: string]: JsonValue | undefined };

/** @throws {ConfigurationError} `invalid_option` if the hook throws, or gives anything but a JSON object */
export function hookedEvent(hook: EventHook, body: JsonObject, name: OrderEventName): JsonObject {
  const changed = callHook('event', () => hook(body, name));
  if (isJsonObject(changed) && findNonJson(changed) === undefined) {
    // Without the members that are undefined. Sound: JSON.parse of an object returns one.
    return JSON.parse(JSON.stringify(changed)) as JsonObject;
  }
  throw invalidOption('event must return a JSON object, and no promise.');
}

/** @throws {ConfigurationError} `invalid_option` if the hook throws, or gives anything but a reply */
export function hookedReply(
  hook: ReplyHook,
  reply: SandboxReply,
  operation: SandboxOperation | undefined,
): SandboxReply {
  const changed = callHook('reply', () => hook(reply, operation));
  const { data } = replySchema.safeParse(changed);
  if (data !== undefined) return data;
  throw invalidOption(
    'reply must return { status, headers, body }, with a status from 200 to 599 and a body of JSON or text.',
  );
}

/** The error names the hook, and keeps its own error as the cause: that message may hold secrets. */
function callHook(name: 'event' | 'reply', call: () => unknown): unknown {
  try {
    return call();
  } catch (cause) {
    const kind = cause instanceof Error ? `a ${cause.name}` : 'something that is no error';
    const what = `The function ${name}, given to createSandbox, threw ${kind}.`;
    throw new ConfigurationError('invalid_option', what, { cause });
  }
}

const replySchema = z.object({
  status: z.int().min(200).max(599),
  headers: z.record(z.string(), z.string()),
  body: z.custom<JsonValue>((body) => body !== undefined && findNonJson(body) === undefined),
});
