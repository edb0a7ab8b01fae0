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

/** The call that failed. */
interface Refused {
  readonly operation: Operation;
  readonly rules: OperationRules;
}

interface Clue {
  /** The words in a reply that point to it, if there are any. */
  readonly words?: RegExp;
  /** Words that can mean nothing else: it comes before all that only `words` point to. */
  readonly certain?: RegExp;
  /** The cause for an operation; `undefined` where it cannot be the cause. */
  readonly cause: (refused: Refused) => LikelyCause | undefined;
}

/** The most specific words come first: most refusals mention keys. */
const clues = {
  whitelist: {
    words: /\b(?:white|allow) ?list|\bips?\b|\bip address/,
    cause: ({ operation }) => (operation === 'whitelistIp' ? undefined : causes.whitelist),
  },
  limits: {
    words: /\brate limit|\btoo many\b|\bthrottl/,
    cause: ({ operation }) => (operation === 'createOrder' ? causes.orderLimits : causes.limits),
  },
  deviceHasKey: {
    words: /\balready\b|\bduplicate\b|\bhas (?:an? )?(?:api )?key\b/,
    cause: ({ operation }) => (operation === 'generateApiKey' ? causes.deviceHasKey : undefined),
  },
  orderConflict: {
    words: /\balready\b|\bduplicate\b|\bexists\b|\bthere is an order\b/,
    cause: ({ operation }) => (operation === 'createOrder' ? causes.orderConflict : undefined),
  },
  device: {
    words: /\bdevice\b|\bscan(?:ned)?\b|\bpair(?:ed|ing)\b|\bnot connected\b/,
    cause: ({ rules }) => (needsDevice(rules) ? causes.device : undefined),
  },
  recipient: {
    words: /\b(?:phone|mobile|number(?! of\b)|recipient|msisdn|receiver)\b|\bnot on (?:the )?messenger\b/,
    cause: ({ rules }) => (needsDevice(rules) ? causes.recipient : undefined),
  },
  partnerId: {
    words: /\bpartner ?id\b/,
    cause: ({ operation }) => (operation === 'createOrder' ? causes.partnerId : undefined),
  },
  values: {
    words: /\b(?:chain|currency|pair)\b/,
    cause: ({ operation }) => (operation === 'createOrder' ? causes.values : undefined),
  },
  signature: {
    words: /\bsign(?:ature|atures|ed|ing)?\b|\bhmac\b|\bhash\b|\bdigest\b|\bchecksum\b/,
    cause: ({ rules }) => (rules.signedWith === 'nothing' ? undefined : causes.signature),
  },
  key: {
    words: /\b(?:api|master|public|access|partner) keys?\b|\btoken\b|\bbearer\b|\bcredentials?\b/,
    cause: ({ rules }) => {
      const key = keyNames[rules.authorization];
      const ids = rules.authorization === 'public-key' ? (['key-lifetime'] as const) : [];
      return key && { ...causeOf.key(key), ids };
    },
  },
  merchant: {
    words: /\bmerchant\b/,
    // A merchant has one currency: a reply that names both is about the key, not about the order's values.
    certain: /\bmerchant (?:secret )?keys?\b|\bmerchant\b.*\bcurrenc|\bcurrenc.*\bmerchant\b/,
    cause: ({ operation }) => (operation === 'createOrder' ? causes.merchant : undefined),
  },
  payload: {
    // Every refused body mentions fields and values, so only this name tells more than the status does.
    words: /\bverify ?check\b/,
    cause: ({ rules }) => payloadCause(rules),
  },
  path: {
    cause: ({ operation, rules }) => ({
      ...causeOf.path(rules.baseUrl, `paths.${operation}`),
      ids: rules.assumptions.path === undefined ? [] : [rules.assumptions.path],
    }),
  },
} as const satisfies Record<string, Clue>;

/**
 * The likely causes of a status that is not 2xx, the likeliest first: what the reply names, then what the status can
 * mean for the operation.
 *
 * @param said the texts of the reply, see `replyTexts`
 */
export function likelyCauses(
  operation: Operation,
  status: number,
  said: readonly string[] = [],
): LikelyCause[] {
  const refused = { operation, rules: operationRules(operation) };
  const words = plainWords(said);
  const all: readonly [string, Clue][] = Object.entries(clues);
  const named = all.filter(([, clue]) => clue.words?.test(words));
  const certain = named.filter(([, clue]) => clue.certain?.test(words));
  const names = new Set([
    ...certain.map(([name]) => name),
    ...named.map(([name]) => name),
    ...causesOfStatus(status, refused.rules),
  ]);
  // If the recipient cannot be reached, the members of the request are not to blame.
  if (needsDevice(refused.rules) && named.some(([name]) => name === 'recipient')) names.delete('payload');
  return [...names].flatMap((name) => all.find(([own]) => own === name)?.[1].cause(refused) ?? []);
}

type ClueName = keyof typeof clues;

function causesOfStatus(status: number, rules: OperationRules): ClueName[] {
  switch (status) {
    case 400:
    case 422:
      return ['payload', 'signature', 'recipient'];
    case 401:
      return rules.authorization === 'public-key' ? ['signature', 'key', 'whitelist'] : ['key'];
    case 403:
      return rules.authorization === 'public-key' ? ['whitelist', 'signature', 'key'] : ['key'];
    case 404:
    case 405:
      return ['path'];
    case 409:
      return ['deviceHasKey', 'orderConflict'];
    case 423:
      return ['orderConflict'];
    case 429:
      return ['limits'];
    default:
      return [];
  }
}

const keyNames = {
  none: undefined,
  'public-key': 'partnerPublicKey',
  'master-key': 'masterKey',
  'api-key-in-query': 'the API key',
  'api-key-in-body': 'the API key',
} as const satisfies Record<OperationRules['authorization'], string | undefined>;

/** Whether the operation uses a messenger device. */
function needsDevice(rules: OperationRules): boolean {
  return rules.authorization === 'api-key-in-body' || rules.authorization === 'api-key-in-query';
}

function payloadCause({ assumptions }: OperationRules): LikelyCause | undefined {
  const id = assumptions.payload;
  if (id === undefined) return undefined;
  return (
    payloadCauses.find(({ ids }) => ids.some((each) => each === id)) ?? { ...causeOf.payload, ids: [id] }
  );
}

const payloadCauses: readonly LikelyCause[] = [
  causes.orderPayload,
  causes.deviceName,
  causes.queryNames,
  causes.verifyCheck,
];

/** In lower case, with `ip_not_whitelisted` and `ipNotWhitelisted` split into words. */
function plainWords(said: readonly string[]): string {
  return said
    .join(' ')
    .slice(0, 4_000)
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase();
}
