import type { AssumptionId } from '../deployment/assumptions.ts';
import { type Operation, operationNames, operationRules } from '../deployment/operations.ts';

/** Something that can cause a refusal. */
export interface LikelyCause {
  /** What to check, in a few words, with the option that changes it. */
  readonly words: string;
  /** Its entries in the assumption ledger; empty where we assume nothing. */
  readonly ids: readonly AssumptionId[];
}

type RefusalCause = LikelyCause & {
  readonly operations: readonly Operation[];
  readonly statuses: readonly number[];
};

const order: readonly Operation[] = ['createOrder'];
const noOrder = operationNames.filter((name) => name !== 'createOrder');
const signed: readonly Operation[] = ['createOrder', 'regenerateKeys'];
const generation: readonly Operation[] = ['generateApiKey'];
const toNumber: readonly Operation[] = ['checkNumber', 'sendMessage'];
const badPayload = [400, 422];
const badKey = [401, 403];

const recipient = cause('to_phone is not on the messenger', toNumber, badPayload, 'otp-refusal');

/** The causes of statuses outside 2xx, the likeliest of each status first: docs/errors.md lists them. */
export const refusalCauses: readonly RefusalCause[] = [
  recipient,
  cause('other members are wanted (orderSchema)', order, badPayload, 'order-payload'),
  cause('another name for messenger_device_no (wireNames)', generation, badPayload, 'branded-names'),
  cause('other names in the query', ['checkNumber'], badPayload, 'number-check'),
  cause('verify_check means something else', ['sendMessage'], badPayload, 'verify-check'),
  cause(
    'another signature (learn)',
    signed,
    [...badKey, ...badPayload],
    'signature-construction',
    'signature-serialization',
    'signature-encoding',
    'signature-key',
    'merchant-concatenation',
  ),
  cause('an IP that is not whitelisted', signed, badKey, 'ip-whitelist'),
  cause('partnerPublicKey is not known', [...signed, 'whitelistIp'], badKey, 'key-lifetime'),
  cause('masterKey is not known', generation, badKey),
  cause('the API key is not known', toNumber, badKey),
  cause('an unknown chain or currency', order, badPayload, 'allowed-values'),
  cause('another merchant secret (option merchant)', order, [...badKey, ...badPayload], 'several-merchants'),
  cause('partnerId belongs to another key', order, badKey, 'order-partner-id'),
  cause('the device number has a key already', generation, [409]),
  cause('the device is not connected', toNumber, [409]),
  // A service may refuse a repetition as it refuses any other payload.
  cause(
    'it has this partner_order_id already (orderStatuses)',
    order,
    [409, 423, ...badPayload],
    'order-conflict',
    'partner-order-id',
  ),
  cause('too many requests (orderStatuses)', order, [429], 'request-limits', 'order-rate-limit'),
  cause('too many requests', noOrder, [429], 'request-limits'),
];

/** The cause of a 2xx that does not accept its order or message: the deployment reads replies otherwise. */
export const replyCauses = {
  readOrderReply: { words: 'readOrderReply is needed', ids: ['order-reply'] },
  readMessageReply: { words: 'readMessageReply is needed', ids: ['message-reply'] },
} as const satisfies Readonly<Record<string, LikelyCause>>;

/**
 * The likely causes of a reply by its operation and status, the likeliest first. Its words are read for the recipient
 * alone: one-time codes depend on it (ledger: `otp-refusal`).
 *
 * @param texts the texts of the reply, see `replyTexts`
 */
export function likelyCauses(operation: Operation, status: number, texts: readonly string[]): LikelyCause[] {
  const known = refusalCauses.filter(
    ({ operations, statuses }) => operations.includes(operation) && statuses.includes(status),
  );
  const isNamed = toNumber.includes(operation) && texts.some((text) => recipientWords.test(text));
  const likely: LikelyCause[] = isNamed && !known.includes(recipient) ? [...known, recipient] : known;
  return status === 404 || status === 405 ? [...likely, pathCause(operation)] : likely;
}

const recipientWords = /phone|mobile|number(?!s?[ _-]of)|recipient/i;

function pathCause(operation: Operation): LikelyCause {
  const { baseUrl, pathAssumption } = operationRules(operation);
  const ids = pathAssumption === undefined ? [] : [pathAssumption];
  return { words: `another address (${baseUrl}, paths.${operation})`, ids };
}

function cause(
  words: string,
  operations: readonly Operation[],
  statuses: readonly number[],
  ...ids: readonly AssumptionId[]
): RefusalCause {
  return { words, ids, operations, statuses };
}
