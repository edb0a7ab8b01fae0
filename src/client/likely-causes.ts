import type { AssumptionId } from '../deployment/assumptions.ts';
import { type Operation, type OperationRules, operationRules } from '../deployment/operations.ts';

/** Something that can cause a refusal. */
export interface LikelyCause {
  /** What to check, in a few words, with the option that changes it. */
  readonly words: string;
  /** Its entries in the assumption ledger; empty where we assume nothing. */
  readonly ids: readonly AssumptionId[];
}

/** The causes of refusals: docs/errors.md lists them. */
export const causes = {
  whitelist: cause('an IP that is not whitelisted', 'ip-whitelist'),
  limits: cause('too many requests', 'request-limits'),
  orderLimits: cause('too many requests (orderStatuses)', 'request-limits', 'order-rate-limit'),
  orderConflict: cause(
    'it has this partner_order_id already (orderStatuses)',
    'order-conflict',
    'partner-order-id',
  ),
  deviceHasKey: cause('the device number has a key already'),
  device: cause('the device is not connected'),
  recipient: cause('to_phone is not on the messenger', 'otp-refusal'),
  signature: cause(
    'another signature (learn)',
    'signature-construction',
    'signature-serialization',
    'signature-encoding',
    'signature-key',
    'merchant-concatenation',
  ),
  publicKey: cause('partnerPublicKey is not known', 'key-lifetime'),
  masterKey: cause('masterKey is not known'),
  apiKey: cause('the API key is not known'),
  merchant: cause('another merchant secret (option merchant)', 'several-merchants'),
  partnerId: cause('partnerId belongs to another key', 'order-partner-id'),
  values: cause('an unknown chain or currency', 'allowed-values'),
  orderPayload: cause('other members are wanted (orderSchema)', 'order-payload'),
  deviceName: cause('another name for messenger_device_no (wireNames)', 'branded-names'),
  queryNames: cause('other names in the query (numberCheckParameters)', 'number-check'),
  verifyCheck: cause('verify_check means something else', 'verify-check'),
} as const satisfies Readonly<Record<string, LikelyCause>>;

/** The cause of a 2xx that does not accept its order or message: the deployment reads replies otherwise. */
export const replyCauses = {
  readOrderReply: cause('readOrderReply is needed', 'order-reply'),
  readMessageReply: cause('readMessageReply is needed', 'message-reply'),
} as const;

/**
 * The likely causes of a status that is not 2xx, the likeliest first. The words of the reply are read for its recipient
 * alone: one-time codes depend on it (ledger: `otp-refusal`). Each service has its own words, and the error quotes them.
 *
 * @param texts the texts of the reply, see `replyTexts`
 */
export function likelyCauses(
  operation: Operation,
  status: number,
  texts: readonly string[] = [],
): LikelyCause[] {
  const rules = operationRules(operation);
  const isOrder = operation === 'createOrder';
  const signature = when(rules.signedWith !== 'nothing', causes.signature);
  const whitelist = when(
    rules.authorization === 'public-key' && operation !== 'whitelistIp',
    causes.whitelist,
  );
  const recipient = when(operation === 'sendMessage' || operation === 'checkNumber', causes.recipient);
  const namedRecipient = texts.some((text) => recipientWords.test(text)) ? recipient : [];
  const key = keyCauses[rules.authorization];
  const orderKeys = when(isOrder, causes.merchant, causes.partnerId);
  switch (status) {
    case 400:
    case 422:
      return [
        ...recipient,
        ...(payloadCauses[operation] ?? []),
        ...signature,
        // A service may refuse a repetition as it refuses any other payload.
        ...when(isOrder, causes.values, causes.merchant, causes.orderConflict),
      ];
    case 401:
      return [...signature, ...key, ...whitelist, ...orderKeys];
    case 403:
      return [...whitelist, ...signature, ...key, ...orderKeys];
    case 404:
    case 405:
      return [...namedRecipient, pathCause(operation, rules)];
    case 409:
      return [
        ...when(operation === 'generateApiKey', causes.deviceHasKey),
        ...when(isOrder, causes.orderConflict),
        ...when(rules.authorization.startsWith('api-key'), causes.device),
      ];
    case 423:
      return when(isOrder, causes.orderConflict);
    case 429:
      return [isOrder ? causes.orderLimits : causes.limits];
    default:
      return namedRecipient;
  }
}

function cause(words: string, ...ids: readonly AssumptionId[]): LikelyCause {
  return { words, ids };
}

const recipientWords = /phone|mobile|number(?!s?[ _-]of)|recipient/i;

function when(isPossible: boolean, ...possible: LikelyCause[]): LikelyCause[] {
  return isPossible ? possible : [];
}

const keyCauses: Readonly<Record<OperationRules['authorization'], readonly LikelyCause[]>> = {
  none: [],
  'public-key': [causes.publicKey],
  'master-key': [causes.masterKey],
  'api-key-in-query': [causes.apiKey],
  'api-key-in-body': [causes.apiKey],
};

function pathCause(operation: Operation, { baseUrl, pathAssumption }: OperationRules): LikelyCause {
  const ids = pathAssumption === undefined ? [] : [pathAssumption];
  return cause(`another address (${baseUrl}, paths.${operation})`, ...ids);
}

const payloadCauses: Readonly<Partial<Record<Operation, readonly LikelyCause[]>>> = {
  createOrder: [causes.orderPayload],
  generateApiKey: [causes.deviceName],
  checkNumber: [causes.queryNames],
  sendMessage: [causes.verifyCheck],
};
