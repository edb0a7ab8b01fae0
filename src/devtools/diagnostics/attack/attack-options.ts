import { defineCredentials } from '../../../credentials/define-credentials.ts';
import { isKeyRing, type KeyRing, loadedKeys } from '../../../credentials/key-ring.ts';
import type { PartnerCredentials } from '../../../credentials/partner-credentials.ts';
import type { Deployment } from '../../../deployment/define-deployment.ts';
import { readSigningPart } from '../../../deployment/signing-part.ts';
import {
  abortSignal,
  callback,
  defineOptions,
  flag,
  invalidOption,
  list,
  nested,
  type OptionTable,
  optional,
  text,
  timerMs,
} from '../../../internal/options.ts';
import type { AttackResult } from './attack-case.ts';
import type { AttackOrder } from './probes.ts';

/** Options of `attackReceiver`. */
export interface AttackOptions {
  /**
   * The receiver's credentials, which sign the authentic deliveries. With several merchants the first one's key signs. A key
   * ring needs `await ring.reload()` first.
   */
  credentials: PartnerCredentials | KeyRing;
  /** The receiver's signature scheme and wire names. @default the default scheme, the published names */
  deployment?: Pick<Deployment<unknown>, 'signature' | 'wireNames'> | undefined;
  /**
   * Sends the requests.
   * @default globalThis.fetch
   */
  fetch?: typeof fetch | undefined;
  /** Stops the attack, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The limit for one answer in milliseconds; a slower receiver hangs. @default 10000 */
  timeoutMs?: number | undefined;
  /**
   * The name of the host in the URL, which confirms that it is yours. Required for any other machine, since the
   * attack floods the receiver and tries to break it.
   */
  iOwnThisHost?: string | undefined;
  /**
   * Tells how often your code acted on an order: look it up in your records. An event that is kept for a person, such
   * as a dead letter of an inbox, counts too. Without it only answers are judged, and cases that need effects are
   * skipped.
   */
  handled?: ((partnerOrderId: string) => number | Promise<number>) | undefined;
  /**
   * The names of the events that must have an effect in `handled`; the first one is the name of most probes. Other
   * events need only be acknowledged. Means nothing without `handled`.
   * @default ['event.buy.credited.crypto']
   */
  handles?: readonly string[] | undefined;
  /** The longest wait for an effect to show in `handled`, in milliseconds: longer than your slowest worker takes. @default 5000 */
  effectTimeoutMs?: number | undefined;
  /**
   * An order that exists: authentic events of a name in `handles` are about it. For a receiver that acts on known orders
   * alone, such as one with a foreign key to them. Take one that nothing depends on. Cases that need the effects of new
   * orders are skipped.
   * @default a new order for each event
   */
  order?: AttackOrder | undefined;
  /** Leaves out the cases that take long, unless `only` names them. @default false */
  quick?: boolean | undefined;
  /** The ids of the cases to run; `authentic` always runs first. @default all */
  only?: readonly string[] | undefined;
  /** The ids of cases to leave out. @default none */
  skip?: readonly string[] | undefined;
  /**
   * The reporter: called, and awaited, when a case has run or was skipped. What it throws ends the attack. Effects are
   * compared at the end, so the report can hold another verdict.
   */
  onCase?: ((result: AttackResult, progress: AttackProgress) => unknown) | undefined;
}

/** How far an attack is. */
export interface AttackProgress {
  /** Cases that have run or were skipped. */
  readonly done: number;
  /** Cases that have not. */
  readonly left: number;
}

const readOrderMembers = nested({
  partner_order_id: text(),
  buyer_crypto_address: optional(text()),
} satisfies OptionTable<AttackOrder>);

function readOrder(given: unknown, name: string): AttackOrder | undefined {
  if (given === undefined) return undefined;
  const { partner_order_id, buyer_crypto_address } = readOrderMembers(given, name);
  return { partner_order_id, ...(buyer_crypto_address !== undefined && { buyer_crypto_address }) };
}

/** @throws {ConfigurationError} @throws {KeyError} `keys_unavailable` */
export const readAttackOptions = defineOptions('attackReceiver', {
  credentials: (given) => {
    if (isKeyRing(given)) return loadedKeys(given).signing;
    // Sound: defineCredentials checks it.
    return defineCredentials(given as PartnerCredentials);
  },
  deployment: readSigningPart,
  fetch: optional(callback<typeof fetch>()),
  signal: abortSignal(),
  timeoutMs: timerMs({ default: 10_000 }),
  iOwnThisHost: optional(text()),
  handled: optional(callback<NonNullable<AttackOptions['handled']>>()),
  handles: list(text(), { default: ['event.buy.credited.crypto'] }),
  effectTimeoutMs: timerMs({ default: 5000 }),
  quick: flag({ default: false }),
  order: readOrder,
  only: optional(list(text())),
  skip: list(text(), { default: [] }),
  onCase: callback<NonNullable<AttackOptions['onCase']>>({ default: () => {} }),
} satisfies OptionTable<AttackOptions>);

export type AttackSettings = ReturnType<typeof readAttackOptions>;

/** A URL without its fragment. @throws {ConfigurationError} `invalid_option` */
export function checkHttpUrl(name: string, given: unknown): URL {
  if ((typeof given !== 'string' && !(given instanceof URL)) || !URL.canParse(String(given))) {
    throw invalidOption(`${name} must be an absolute URL.`);
  }
  const url = new URL(String(given));
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalidOption(`${name} must begin with http: or https:.`);
  }
  if (url.username !== '' || url.password !== '') throw invalidOption(`${name} must not hold credentials.`);
  url.hash = '';
  return url;
}
