import type { OrderEventName } from '../../../../events/order-event.ts';
import { isJsonObject, type JsonObject, type JsonValue, tryParse } from '../../../../internal/json.ts';
import { printableText } from '../../../../internal/printable-text.ts';
import { findLossyMember } from '../../../diagnostics/find-lossy-member.ts';
import { unreachableBecause } from '../../../diagnostics/post-request.ts';
import { eventBody } from '../../../testing/event-body.ts';
import { refusedDeliveries, signedDelivery } from '../../../testing/signed-delivery.ts';
import { answerItem, describeReceiverAnswer, isSuccess, postEach } from '../../deliveries/post-delivery.ts';
import { readSavedRequest } from '../../deliveries/saved-deliveries.ts';
import { currentCredentials, readConfiguration } from '../../inputs/configuration.ts';
import { inputName, readExactJsonObject, readInput } from '../../inputs/input.ts';
import { defineCommand } from '../../terminal/command.ts';
import { type CliContext, CliError, exitCodes } from '../../terminal/context.ts';
import {
  choiceArg,
  type FlagsOf,
  formatFlags,
  keysFlag,
  merchantFlag,
  parsedBy,
  postFlags,
  textFlag,
  toggle,
  wholeNumber,
} from '../../terminal/flags.ts';
import { openOutput } from '../../terminal/output.ts';

/** Every published event, with those that an order usually posts until then. */
const eventsUntil = {
  'event.buy.init': ['event.buy.init'],
  'event.buy.received.fiat': ['event.buy.init', 'event.buy.received.fiat'],
  'event.buy.received.fiat_kyc_error': ['event.buy.init', 'event.buy.received.fiat_kyc_error'],
  'event.buy.third_party_error': ['event.buy.init', 'event.buy.third_party_error'],
  'event.buy.credited.crypto': ['event.buy.init', 'event.buy.received.fiat', 'event.buy.credited.crypto'],
  'buy.event.close': ['event.buy.init', 'event.buy.received.fiat', 'buy.event.close'],
} as const satisfies Record<OrderEventName, readonly OrderEventName[]>;

// Sound: the keys of the table above.
const eventNames = Object.keys(eventsUntil) as (keyof typeof eventsUntil)[];

const flags = {
  ...postFlags,
  from: textFlag.optional(
    'file',
    'Post the event in this file, signed anew: a JSON object, or a saved delivery',
  ),
  set: parsedBy(assignment).list('member=value', 'What differs: a.b=c, the value as JSON or as text'),
  repeat: wholeNumber(1, 10_000).withDefault(
    'times',
    'Post the same bytes several times, as a service that repeats',
    '1',
  ),
  reverse: toggle('Post all events of the order until this one, the last one first'),
  forge: toggle('Sign it as one who knows no secret: your receiver must refuse it'),
  merchant: merchantFlag,
  keys: keysFlag,
  ...formatFlags,
};
type Flags = FlagsOf<typeof flags>;

export default defineCommand({
  brief: 'Post a signed event to your receiver',
  about: `Posts a published event, complete and signed with your keys: ${eventNames.join(', ')}; or, with --from, one of your own. Exits with 1 if it is not answered with 2xx, and with --forge if it is.`,
  examples: [
    'partner-exchange trigger event.buy.credited.crypto --to http://127.0.0.1:3000/orders',
    'partner-exchange trigger event.buy.init --to http://127.0.0.1:3000/orders --set partner_order_id=A-7 --set transactional_kyc.email=',
    'partner-exchange trigger event.buy.credited.crypto --to http://127.0.0.1:3000/orders --reverse --repeat 3',
    'partner-exchange trigger event.buy.init --to http://127.0.0.1:3000/orders --forge',
    'partner-exchange trigger --from event.json --to http://127.0.0.1:3000/orders',
  ],
  json: 'A line for each: { event, time, forged, status?, problem?, durationMs, expected }',
  flags,
  args: [{ ...choiceArg('event', eventNames, 'Name of the event; not with --from'), optional: true }],
  async run(context, flags, event) {
    const output = openOutput(context, flags);
    const configuration = await readConfiguration(context, flags);
    const { deployment } = configuration;
    const { merchant, forge, repeat } = flags;
    const options = {
      credentials: currentCredentials(configuration),
      deployment,
      merchant,
      // The awkward spelling adds a member, which the user's own text does not have.
      spelling: flags.from !== undefined ? ('compact' as const) : undefined,
    };
    const bodies = await makeBodies(context, flags, event);
    function* deliveries() {
      for (const body of bodies) {
        const { headers, body: text } = forge
          ? refusedDeliveries(body, options).forged
          : signedDelivery(body, options);
        const delivery = { headers: Object.entries(headers), body: Buffer.from(text) };
        for (let time = 1; time <= repeat; time++) {
          yield { event: String(body.event_name), time, ...delivery };
        }
      }
    }
    let unexpected = 0;
    let unreachable: string | undefined;
    await postEach(context, deliveries(), {
      ...flags,
      onAnswer({ event, time }, answer) {
        const expected = forge ? isRefusal(answer.status) : isSuccess(answer);
        if (!expected) unexpected++;
        if (answer.status === undefined) {
          unreachable ??= unreachableBecause({ kind: 'closed', reason: answer.problem }, flags.to.host);
        }
        output.item(
          { event, time, forged: forge, ...answerItem(answer), expected },
          (paint) =>
            `${describeReceiverAnswer(answer, paint)} ${printableText(event)}${forge ? ' (forged)' : ''}`,
        );
      },
    });
    if (unexpected === 0) return exitCodes.ok;
    if (unreachable !== undefined) {
      output.status(`${unreachable}: start your receiver, or check --to.`);
      return exitCodes.findings;
    }
    output.status(
      forge
        ? 'A forged event was not refused with 4xx: verify the signature before anything else. Next: partner-exchange attack.'
        : 'Not every event was answered with 2xx. Next: look at the log of your receiver; "partner-exchange verify" says why a signature does not match.',
    );
    return exitCodes.findings;
  },
});

async function makeBodies(
  context: CliContext,
  flags: Flags,
  event: OrderEventName | undefined,
): Promise<readonly JsonObject[]> {
  if (flags.from === undefined) {
    if (event === undefined) throw new CliError('Name an event, or a file with --from.');
    const names: readonly OrderEventName[] = flags.reverse ? eventsUntil[event].toReversed() : [event];
    // Sound: an event is plain JSON data, made for this call.
    return names.map((name) => changedBody(structuredClone(eventBody(name)) as object as JsonObject, flags));
  }
  if (event !== undefined || flags.reverse) {
    throw new CliError('--from brings its own event: leave out the name of an event, and --reverse.');
  }
  const name = inputName(flags.from);
  const { body } = readSavedRequest(await readInput(context, flags.from), name);
  return [changedBody(readExactJsonObject(body, name), flags)];
}

function changedBody(body: JsonObject, { set = [] }: Flags): JsonObject {
  return set.reduce<JsonObject>((changed, { path, value }) => withMember(changed, path, value), body);
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

function isRefusal(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500;
}

interface Assignment {
  readonly path: readonly string[];
  readonly value: JsonValue;
}

/** Parses `a.b=c`: the value is JSON if it can be read as such, otherwise text. */
function assignment(input: string): Assignment {
  const end = input.indexOf('=');
  const path = input.slice(0, Math.max(end, 0)).split('.');
  if (path.some((name) => name === '' || name === '__proto__')) {
    throw new CliError('must be of the form member=value or outer.inner=value');
  }
  const written = input.slice(end + 1);
  const parsed = tryParse(written);
  const value = parsed === undefined ? written : parsed;
  const loss = value === written ? undefined : findLossyMember(written);
  if (loss === undefined) return { path, value };
  throw new CliError(`${[...path, ...loss.path].join('.')} ${loss.message}`);
}
