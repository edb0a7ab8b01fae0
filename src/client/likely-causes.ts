import type { AssumptionId } from '../deployment/assumptions.ts';
import { type Operation, type OperationRules, operationRules } from '../deployment/operations.ts';
import { causeOf, causes } from '../errors/remedies.ts';

/** Something that can cause a refusal. */
export interface LikelyCause {
  /** What to check, as a clause without its full stop. */
  readonly advice: string;
  /** The cause in a few words. */
  readonly brief: string;
  /** Its entries in the assumption ledger; empty where we assume nothing. */
  readonly ids: readonly AssumptionId[];
}

/**
 * The likely causes of a status that is not 2xx, the likeliest first. The words of the reply are read for its recipient
 * alone: one-time codes depend on it (ledger: `otp-refusal`). Each service has its own words, and the error quotes them.
 *
 * @param said the texts of the reply, see `replyTexts`
 */
export function likelyCauses(
  operation: Operation,
  status: number,
  said: readonly string[] = [],
): LikelyCause[] {
  const rules = operationRules(operation);
  const isOrder = operation === 'createOrder';
  const signature = when(rules.signedWith !== 'nothing', causes.signature);
  const whitelist = when(
    rules.authorization === 'public-key' && operation !== 'whitelistIp',
    causes.whitelist,
  );
  const recipient = when(operation === 'sendMessage' || operation === 'checkNumber', causes.recipient);
  const namedRecipient = said.some((text) => recipientWords.test(text)) ? recipient : [];
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
      return [...signature, ...keyCause(rules), ...whitelist, ...orderKeys];
    case 403:
      return [...whitelist, ...signature, ...keyCause(rules), ...orderKeys];
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

const recipientWords = /phone|mobile|number(?!s?[ _-]of)|recipient/i;

function when(isPossible: boolean, ...found: LikelyCause[]): LikelyCause[] {
  return isPossible ? found : [];
}

function keyCause({ authorization }: OperationRules): LikelyCause[] {
  const name = keyNames[authorization];
  if (name === undefined) return [];
  return [{ ...causeOf.key(name), ids: authorization === 'public-key' ? ['key-lifetime'] : [] }];
}

const keyNames = {
  none: undefined,
  'public-key': 'partnerPublicKey',
  'master-key': 'masterKey',
  'api-key-in-query': 'the API key',
  'api-key-in-body': 'the API key',
} as const satisfies Record<OperationRules['authorization'], string | undefined>;

function pathCause(operation: Operation, { baseUrl, pathAssumption }: OperationRules): LikelyCause {
  return {
    ...causeOf.path(baseUrl, `paths.${operation}`),
    ids: pathAssumption === undefined ? [] : [pathAssumption],
  };
}

const payloadCauses: Readonly<Partial<Record<Operation, readonly LikelyCause[]>>> = {
  createOrder: [causes.orderPayload],
  generateApiKey: [causes.deviceName],
  checkNumber: [causes.queryNames],
  sendMessage: [causes.verifyCheck],
};
