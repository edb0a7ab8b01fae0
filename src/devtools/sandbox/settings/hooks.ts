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
  if (isReply(changed)) return changed;
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

function isReply(value: unknown): value is SandboxReply {
  if (typeof value !== 'object' || value === null) return false;
  const { status, headers, body }: { status?: unknown; headers?: unknown; body?: unknown } = value;
  return (
    Number.isInteger(status) &&
    Number(status) >= 200 &&
    Number(status) <= 599 &&
    areHeaders(headers) &&
    body !== undefined &&
    findNonJson(body) === undefined
  );
}

function areHeaders(value: unknown): boolean {
  if (!isJsonObject(value) || !Object.values(value).every((text) => typeof text === 'string')) return false;
  try {
    // Sound: all values are texts.
    new Headers(value as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
