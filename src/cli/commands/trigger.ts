import type { OrderEventName } from '../../events/order-event.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json/json-value.ts';
import { eventBody } from '../../testing/event-body.ts';
import { type Delivery, refusedDeliveries, signedDelivery } from '../../testing/signed-delivery.ts';
import { exitCodes } from '../context/exit-code.ts';
import { createPoster } from '../deliveries/post-delivery.ts';
import { currentCredentials, readConfiguration } from '../input/read-keys.ts';
import { describeAnswer, isSuccess } from '../output/describe-answer.ts';
import { openOutput } from '../output/output.ts';
import type { CommonFlags, FormatFlags, SigningFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';
import type { PostFlags } from '../routes/delivery-flags.ts';
import type { Assignment } from '../routes/parse-flag.ts';
import { stories } from '../routes/stories.ts';

export interface TriggerFlags extends CommonFlags, FormatFlags, SigningFlags, PostFlags {
  readonly set?: readonly Assignment[] | undefined;
  readonly repeat: number;
  readonly reverse: boolean;
  readonly forge: boolean;
  readonly unfamiliar: boolean;
  readonly merchant?: string | undefined;
}

/** Posts signed events to a receiver. */
export const trigger: RunCommand<TriggerFlags, [event: OrderEventName]> = async (context, flags, event) => {
  const output = openOutput(context, flags);
  const configuration = await readConfiguration(context, flags);
  const { deployment } = configuration;
  const { to: url, timeoutMs, merchant, forge, repeat } = flags;
  const options = { credentials: currentCredentials(configuration), deployment, merchant };
  const names: readonly OrderEventName[] = flags.reverse ? stories[event].toReversed() : [event];
  const deliveries = names.map((name) => {
    const body = changedBody(name, flags);
    return {
      event: String(body.event_name),
      ...(forge ? forged(body, options) : signedDelivery(body, options)),
    };
  });
  const { signal } = context;
  const poster = createPoster(context.now);
  let unexpected = 0;
  try {
    for (const { event, headers, body } of deliveries) {
      for (let time = 1; time <= repeat && !signal.aborted; time++) {
        const delivery = { headers: Object.entries(headers), body: Buffer.from(body) };
        const answer = await poster.post(delivery, { url, timeoutMs, signal });
        const isExpected = forge ? isRefusal(answer.status) : isSuccess(answer);
        if (!isExpected) unexpected++;
        const { status, durationMs } = answer;
        const problem = 'problem' in answer ? answer.problem : undefined;
        const item = { event, time, forged: forge, status, problem, durationMs, expected: isExpected };
        output.item(item, (paint) => `${describeAnswer(answer, paint)} ${event}${forge ? ' (forged)' : ''}`);
      }
    }
  } finally {
    poster.close();
  }
  if (unexpected === 0) return exitCodes.ok;
  output.say(
    forge
      ? 'A forged event was not refused with 4xx: verify the signature before anything else. Next: partner-exchange attack.'
      : 'Not every event was answered with 2xx. Next: look at the log of your receiver; "partner-exchange explain" says why a signature does not match.',
  );
  return exitCodes.findings;
};

function changedBody(name: OrderEventName, { set = [], unfamiliar }: TriggerFlags): JsonObject {
  // Sound: an event is plain JSON data, made for this call.
  const body = structuredClone(eventBody(name)) as object as JsonObject;
  const own: readonly Assignment[] = unfamiliar
    ? [
        { path: ['event_name'], value: `${name}.unfamiliar` },
        { path: ['unfamiliar_member'], value: { is: ['not', 'published'] } },
      ]
    : [];
  return [...own, ...set].reduce<JsonObject>(
    (changed, { path, value }) => withMember(changed, path, value),
    body,
  );
}

function withMember(
  body: JsonObject,
  [name = '', ...inner]: readonly string[],
  value: JsonValue,
): JsonObject {
  if (inner.length === 0) return { ...body, [name]: value };
  const outer = body[name];
  return { ...body, [name]: withMember(isJsonObject(outer) ? outer : {}, inner, value) };
}

function forged(body: JsonObject, options: Parameters<typeof refusedDeliveries>[1]): Delivery {
  return refusedDeliveries(body, options).forged;
}

function isRefusal(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500;
}
