import type { DeploymentOptions } from '../deployment/define-deployment.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import type { SettledCryptoStatus, ThirdPartyKycError } from '../events/status.ts';
import type { JsonObject } from '../json/json-value.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { EventSpelling } from './callbacks/event-text.ts';
import type { CallbackRetryPolicy } from './callbacks/retry-policy.ts';
import type { FaultRates, FaultScenario } from './faults/fault-scenarios.ts';
import type { SandboxPartner } from './partners/fixed-partners.ts';
import type { RandomBytes } from './secrets.ts';
import type { ServiceVariants } from './service-variants.ts';

/** The options of `defineDeployment` that describe how this deployment differs. */
export type DeploymentPart<Order> = Pick<
  DeploymentOptions<Order>,
  'paths' | 'wireNames' | 'signature' | 'orderSchema' | 'numberCheckParameters'
>;

export interface SandboxOptions<Order = BuyOrder> extends DeploymentPart<Order>, ServiceVariants {
  /** Posts the events to the partners' callback URLs. @default globalThis.fetch */
  fetch?: typeof fetch | undefined;
  /** Milliseconds since the epoch. @default Date.now */
  now?: (() => number) | undefined;
  /**
   * `real`: time passes by itself. `manual`: it stands still but for `sandbox.clock.advance`, so that what is delayed or
   * repeated happens exactly when a test says so. @default 'real'
   */
  clock?: 'real' | 'manual' | undefined;
  /** How often faults strike from the start: rates, or the name of a scenario. @default none: see `sandbox.faults` */
  faults?: FaultScenario | FaultRates | undefined;
  /** How often an event that is not acknowledged is posted again (ledger: `callback-retry`). @default 'none' */
  callbackRetry?: CallbackRetryPolicy | undefined;
  /**
   * How many entries of the trace, deliveries, mails and messages are kept of each; older ones are forgotten. Orders,
   * partners and devices are never forgotten. @default 10000
   */
  maxRemembered?: number | undefined;
  /**
   * Fixes everything random: keys, links, references, and where faults strike. The same seed replays what comes in the
   * same order. Who knows it knows the sandbox's keys. @default a random one, see `sandbox.seed`
   */
  seed?: string | number | undefined;
  /**
   * Where partners, keys, links, mails, orders, devices, messages and captured IPs last over restarts: the path of an
   * SQLite file, or a record store of yours, which stays open. Keys are in it as they are. One sandbox at a time.
   * @default undefined: in memory
   */
  data?: RecordStore | string | undefined;
  /** Partners that are there from the start, with keys of your choice. @default [] */
  partners?: readonly SandboxPartner[] | undefined;
  /** Source of keys, links and references in place of the seed, which then only decides about faults. */
  random?: RandomBytes | undefined;
  /** Whether orders are refused from an IP that was not whitelisted. @default 'enforced' */
  whitelist?: 'enforced' | 'off' | undefined;
  /** Longest request body, in bytes. @default 1048576 (1 MiB; the sandbox's choice) */
  maxBodyBytes?: number | undefined;
  /** How long a partner may take to answer an event, in milliseconds. @default 10000 (the sandbox's choice) */
  callbackTimeoutMs?: number | undefined;
  /**
   * How the text of the events is spelled. `awkward`: with white space, `\\/`, `\\u00e9`, `10.0`, and an integer-like
   * name after the signature: a receiver that verifies anything but the raw body fails, as it would in production.
   * `compact`: as `JSON.stringify` writes them. @default 'awkward' (the sandbox's choice)
   */
  eventSpelling?: EventSpelling | undefined;
  /** The messenger's master key. @default a random one, see `sandbox.masterKey` */
  masterKey?: string | undefined;
  /**
   * Fiat units for one crypto unit, as decimal text, for every pair or by pair (`NGN/USDT`).
   * @default '1500' (the sandbox's choice)
   */
  exchangeRate?: string | ((pair: string) => string) | undefined;
  /** Deducted from each refund, as decimal text in fiat units. @default '0' (the sandbox's choice) */
  refundFee?: string | undefined;
  /**
   * Fiat currencies paid by mobile money: their orders have a payment link, and a phone number to pay into.
   * @default ['GHS', 'KES', 'KHS'] (reported as currencies; that they are mobile money is the sandbox's choice)
   */
  mobileMoneyCurrencies?: readonly string[] | undefined;
  /** Phone numbers, in any notation, that are not on the messenger. @default [] */
  numbersNotOnMessenger?: readonly string[] | undefined;
  /** Spelling of the status of a credited order. @default 'PAID' (contract: the event for crediting) */
  settledCryptoStatus?: SettledCryptoStatus | undefined;
  /** Spelling of the third-party KYC error. @default 'THIRD_PARTY_PAYMENT' (contract: the sample body) */
  thirdPartyKycError?: ThirdPartyKycError | undefined;
  /**
   * For an `orderSchema` with another payload: returns the order with the members that the events need:
   * `partner_order_id`, `fiat_amount` (decimal text), `fiat_currency`, `chain`, `buyer_crypto_address`,
   * `partner_callback_url`, and if there are any `buyer_email`, `buyer_phone`, `first_name`, `last_name` and
   * `refund_account`. @default the payload itself, which has them if it is the reported one
   */
  readOrder?: ((payload: JsonObject) => JsonObject) | undefined;
}
