import type { OrderEventName } from '../../../events/order-event.ts';
import { isJsonObject, type JsonObject, type JsonValue, tryParse } from '../../../internal/json.ts';
import { findLossyMember } from '../../diagnostics/find-lossy-member.ts';
import { unreachableBecause } from '../../diagnostics/post-request.ts';
import { eventBody } from '../../testing/event-body.ts';
import { sampleEvents } from '../../testing/sample-events.ts';
import { refusedDeliveries, signedDelivery } from '../../testing/signed-delivery.ts';
import { answerItem, describeReceiverAnswer, isSuccess, postEach } from '../deliveries/post-delivery.ts';
import { currentCredentials, readConfiguration } from '../inputs/configuration.ts';
import { defineCommand } from '../terminal/command.ts';
import { CliError, exitCodes } from '../terminal/context.ts';
import {
  choiceArg,
  formatFlags,
  keysFlag,
  merchantFlag,
  parsedBy,
  postFlags,
  toggle,
} from '../terminal/flags.ts';
import { openOutput } from '../terminal/output.ts';

// Sound: the keys of the table are the published names.
const eventNames = Object.keys(sampleEvents) as OrderEventName[];

const flags = {
  ...postFlags,
  set: parsedBy(assignment).list('member=value', 'What differs: a.b=c, the value as JSON or as text'),
  forge: toggle('Sign it as one who knows no secret: your receiver must refuse it'),
  merchant: merchantFlag,
  keys: keysFlag,
  ...formatFlags,
};

export default defineCommand({
  brief: 'Post a signed event to your receiver',
  about: `Posts a published event, complete and signed with your keys: ${eventNames.join(', ')}. Exits with 1 if it is not answered with 2xx, and with --forge if it is. For an event of your own use "sign" and "replay".`,
  examples: [
    'partner-exchange trigger event.buy.credited.crypto --to http://127.0.0.1:3000/orders',
    'partner-exchange trigger event.buy.init --to http://127.0.0.1:3000/orders --set partner_order_id=A-7 --set transactional_kyc.email=',
    'partner-exchange trigger event.buy.init --to http://127.0.0.1:3000/orders --forge',
  ],
  json: '{ event, forged, status?, problem?, durationMs, expected }',
  flags,
  args: [choiceArg('event', eventNames, 'Name of the event')],
  async run(context, { set = [], merchant, forge, ...flags }, event) {
    const output = openOutput(context, flags);
    const configuration = await readConfiguration(context, flags);
    const options = {
      credentials: currentCredentials(configuration),
      deployment: configuration.deployment,
      merchant,
    };
    // Sound: an event is plain JSON data, made for this call.
    const sample = structuredClone(eventBody(event)) as object as JsonObject;
    const body = set.reduce<JsonObject>(
      (changed, { path, value }) => withMember(changed, path, value),
      sample,
    );
    const { headers, body: text } = forge
      ? refusedDeliveries(body, options).forged
      : signedDelivery(body, options);
    const delivery = { headers: Object.entries(headers), body: Buffer.from(text) };
    let isExpected = true;
    let unreachable: string | undefined;
    await postEach(context, [delivery], {
      ...flags,
      onAnswer(_, answer) {
        isExpected = forge ? isRefusal(answer.status) : isSuccess(answer);
        if (answer.status === undefined)
          unreachable = unreachableBecause({ kind: 'closed', reason: answer.problem }, flags.to.host);
        output.item(
          { event, forged: forge, ...answerItem(answer), expected: isExpected },
          (paint) => `${describeReceiverAnswer(answer, paint)} ${event}${forge ? ' (forged)' : ''}`,
        );
      },
    });
    if (isExpected) return exitCodes.ok;
    if (unreachable !== undefined) {
      output.status(`${unreachable}: start your receiver, or check --to.`);
      return exitCodes.findings;
    }
    output.status(
      forge
        ? 'A forged event was not refused with 4xx: verify the signature before anything else. Next: partner-exchange attack.'
        : 'The event was not answered with 2xx. Next: look at the log of your receiver; "partner-exchange verify" says why a signature does not match.',
    );
    return exitCodes.findings;
  },
});

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
