import { checkSecretText } from '../../../credentials/partner-credentials.ts';
import type { DeploymentOptions } from '../../../deployment/define-deployment.ts';
import type { BuyOrder } from '../../../deployment/order-schema.ts';
import { platformFetch } from '../../../deployment/platform-fetch.ts';
import type { JsonObject } from '../../../internal/json.ts';
import type { RandomBytes } from '../../../internal/options.ts';
import {
  callback,
  defineOptions,
  integer,
  invalidOption,
  list,
  nested,
  type OptionTable,
  oneOf,
  optional,
  text,
  timerMs,
  unchecked,
} from '../../../internal/options.ts';
import { checkFault } from './check-fault.ts';
import type { PlannedFault } from './faults.ts';
import { checkPartners, type SandboxPartner } from './fixed-partners.ts';
import type { EventHook, ReplyHook } from './hooks.ts';

/** Options of {@link createSandbox}. */
export interface SandboxOptions<Order = BuyOrder> {
  /**
   * How this deployment differs: options of `defineDeployment`, or its result. The sandbox plays `paths`, `wireNames`,
   * `signature` and `orderSchema`; with `addressForms` it refuses orders for an address that is none of its chain. Base URLs are its own. @default as `defineDeployment`; any address will do
   */
  deployment?: DeploymentOptions<Order> | undefined;
  /** Posts the events to the partners' callback URLs. @default globalThis.fetch */
  fetch?: typeof fetch | undefined;
  /** Milliseconds since 1970. @default Date.now */
  now?: (() => number) | undefined;
  /**
   * `manual`: the time stands still except for `sandbox.clock.advance`, so that a test decides when delayed events
   * are posted. @default 'real'
   */
  clock?: 'real' | 'manual' | undefined;
  /** Faults planned from the start, and after each `reset`: see `plan` of `sandbox.faults`. @default [] */
  faults?: readonly PlannedFault[] | undefined;
  /** How often an event that is not acknowledged is posted again (ledger: `callback-retry`). @default never */
  callbackRetry?: CallbackRetry | undefined;
  /**
   * How many entries of the trace, deliveries, mails, messages and orders are kept of each, the last ones. The id of a
   * forgotten order may be used again. Partners and devices are never forgotten. @default 10000
   */
  maxRemembered?: number | undefined;
  /**
   * Fixes everything random: keys, links, references, and where faults happen. The same seed replays requests in the
   * same order. The seed determines the sandbox's keys: keep it secret. @default a random one, see `sandbox.seed`
   */
  seed?: string | number | undefined;
  /** Partners that exist from the start, with keys of your choice. @default [] */
  partners?: readonly SandboxPartner[] | undefined;
  /**
   * Called when everything is forgotten, by `reset` or the inspector, before `reset` resolves: prepare the sandbox again.
   * @default nothing
   */
  onReset?: (() => void | Promise<void>) | undefined;
  /** Whether orders are refused from an IP that was not whitelisted. @default 'enforced' */
  whitelist?: 'enforced' | 'off' | undefined;
  /** How long a partner may take to answer an event, in milliseconds. @default 10000 (the sandbox's choice) */
  callbackTimeoutMs?: number | undefined;
  /**
   * How the text of the events is spelled. `awkward`: with white space, `\\/`, `\\u00e9`, `10.0`, and an
   * integer-like name after the signature. A receiver that verifies anything but the raw body fails, as it would in
   * production. `compact`: as `JSON.stringify` writes it. @default 'awkward' (the sandbox's choice)
   */
  eventSpelling?: EventSpelling | undefined;
  /** The messenger's master key. @default a random one, see `sandbox.masterKey` */
  masterKey?: string | undefined;
  /** Phone numbers, in any notation, that are not on the messenger. @default [] */
  numbersNotOnMessenger?: readonly string[] | undefined;
  /**
   * Reads the members for the events from a payload of your own `orderSchema`: `partner_order_id`, `fiat_amount`
   * (decimal text), `fiat_currency`, `chain`, `buyer_crypto_address`, `partner_callback_url`, and optionally
   * `buyer_email`, `buyer_phone`, `first_name`, `last_name` and `refund_account`. @default the payload itself
   */
  readOrder?: ((payload: JsonObject) => JsonObject) | undefined;

  /**
   * Changes the body of each event before it is signed, under the published names; `name` is that of the event. A member
   * that is `undefined` is left out. If it throws, the order is refused or stays as it is, and `advance` rejects.
   * @default as documented
   * @example
   * ```ts
   * createSandbox({
   *   event: (body, name) => (name === 'buy.event.close' ? { ...body, exchange_rate: 1500 } : body),
   * });
   * ```
   */
  event?: EventHook | undefined;
  /**
   * Changes each reply and refusal of the service before it is sent; faults are played on the result. If it throws, the
   * reply is 500 `sandbox_failed`. @default as documented
   * @example
   * ```ts
   * createSandbox({
   *   reply: (reply, operation) =>
   *     operation === 'createOrder' && reply.status === 403 ? { ...reply, status: 401 } : reply,
   * });
   * ```
   */
  reply?: ReplyHook | undefined;

  // Points that the contract leaves open. docs/details/sandbox.md has the ledger's id of each.

  /**
   * Currencies with a merchant key of their own in `merchantSecretKeys`; `merchantSecretKey` signs orders in all
   * others. @default one merchant
   */
  merchants?: readonly string[] | undefined;
  /** When a regeneration invalidates the old keys: at the request, when its link is opened, or never. @default 'link' */
  oldKeysExpire?: 'request' | 'link' | 'never' | undefined;
  /**
   * The reply to an order with a used `partner_order_id`: a refusal (409), the existing order, or a second order.
   * @default 'refused'
   */
  duplicateOrders?: 'refused' | 'same' | 'second' | undefined;
  /** Whether `advance` refuses a step that cannot follow. @default 'checked' */
  orderTransitions?: 'checked' | 'any' | undefined;
}

/** How often an unacknowledged event is posted again. @inline */
export interface CallbackRetry {
  /** The most times that an event is posted, the first included. @default 5 */
  readonly maxAttempts?: number | undefined;
  /** Milliseconds on the sandbox's clock before the first repetition; doubled each time. @default 1000 */
  readonly firstDelayMs?: number | undefined;
  /** The longest time between two repetitions, in milliseconds. @default 60000 */
  readonly maxDelayMs?: number | undefined;
}

/** How the text of the events is spelled: see `eventSpelling` of `createSandbox`. @inline */
export type EventSpelling = 'awkward' | 'compact';

/** The options of a running sandbox. */
export interface SandboxSettings extends ReturnType<typeof readSandboxOptions> {
  /** Draws keys, links and references. */
  readonly random: RandomBytes;
}

/** @throws {ConfigurationError} `invalid_option` naming the option; `invalid_credentials` for a bad master key */
export function readSandboxOptions(options: SandboxOptions<unknown>) {
  const { partners = [], ...settings } = readOptions(options);
  return Object.freeze({
    ...settings,
    partners: checkPartners(partners),
  });
}

export function textsOr(...usual: string[]) {
  return list(text(), { default: usual });
}

const readOptions = defineOptions('createSandbox', {
  // `defineDeployment` checks its members.
  deployment: unchecked<DeploymentOptions<unknown>>(),
  fetch: callback<typeof fetch>({ default: platformFetch }),
  now: callback({ default: () => Date.now() }),
  clock: oneOf(['real', 'manual'], { default: 'real' }),
  faults: list(checkFault, { default: [] }),
  callbackRetry: optional(
    nested({
      maxAttempts: integer({ default: 5 }),
      firstDelayMs: timerMs({ default: 1000 }),
      maxDelayMs: timerMs({ default: 60_000 }),
    } satisfies OptionTable<CallbackRetry>),
  ),
  // Checked below.
  partners: unchecked<readonly SandboxPartner[]>(),
  maxRemembered: integer({ default: 10_000 }),
  seed: (given) => (given === undefined ? randomSeed() : checkSeed(given)),
  onReset: callback<() => void | Promise<void>>({ default: () => {} }),
  whitelist: oneOf(['enforced', 'off'], { default: 'enforced' }),
  callbackTimeoutMs: timerMs({ default: 10_000 }),
  eventSpelling: oneOf(['awkward', 'compact'], { default: 'awkward' }),
  masterKey: optional(checkSecretText),
  numbersNotOnMessenger: textsOr(),
  readOrder: callback<(payload: JsonObject) => JsonObject>({ default: (payload) => payload }),
  event: optional(callback<EventHook>()),
  reply: optional(callback<ReplyHook>()),
  merchants: textsOr(),
  oldKeysExpire: oneOf(['link', 'request', 'never'], { default: 'link' }),
  duplicateOrders: oneOf(['refused', 'same', 'second'], { default: 'refused' }),
  orderTransitions: oneOf(['checked', 'any'], { default: 'checked' }),
} satisfies OptionTable<SandboxOptions<unknown>>);

/** The seed determines the keys, so it must not be guessable. */
function randomSeed(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString('hex');
}

function checkSeed(seed: unknown): string {
  if (typeof seed === 'number' ? Number.isFinite(seed) : typeof seed === 'string' && seed !== '') {
    return String(seed);
  }
  throw invalidOption('seed must be text that is not empty, or a number.');
}
