import type { CompleteDeployment } from '../../../deployment/define-deployment.ts';
import type { SandboxDelivery } from '../world/delivery.ts';
import type { SandboxFaults } from '../world/fault-plan.ts';
import type { SandboxMessage } from '../world/messenger-registry.ts';
import type { SandboxOrder, SandboxOrderStep } from '../world/order-registry.ts';
import type { SandboxEmail } from '../world/partner-registry.ts';
import type { TraceEntry } from '../world/trace.ts';
import type { ExaminedSignature } from './examine-signature.ts';
import type { ExchangeVerdict } from './exchange-verdict.ts';

/* The answers of the control API. In JSON, a member that is `undefined` is absent. Lists begin with the newest. */

export interface State {
  /** Another one after each start. */
  readonly instance: string;
  readonly seed: string;
  /** Environment variables of a program: addresses, and the keys of the first partner unless the caller gave them. */
  readonly variables: Readonly<Record<string, string>>;
  readonly deployment: Pick<CompleteDeployment<unknown>, 'onboardingBaseUrl' | 'paths' | 'signature'>;
  readonly clock: Clock;
  readonly trace: Extent;
  readonly counts: Readonly<Record<'orders' | 'deliveries' | 'emails' | 'messages', number>>;
  readonly whitelistedIps: readonly string[];
  readonly faults: ReturnType<SandboxFaults['list']>;
  /** The last 50. */
  readonly emails: readonly Mail[];
  /** The last 50. */
  readonly messages: readonly SandboxMessage[];
  /** The names that requests may use. */
  readonly known: Readonly<
    Record<
      'requestTargets' | 'eventTargets' | 'requestFaults' | 'eventFaults' | 'orderScenarios',
      readonly string[]
    >
  >;
}

export interface Mail extends SandboxEmail {
  /** `replaced`: a newer mail has the valid link. */
  readonly linkState: 'open' | 'used' | 'replaced';
}

/** The time of the sandbox in milliseconds since 1970, and when the next work is due. */
export interface Clock {
  readonly now: number;
  readonly nextAt: number | undefined;
}

/** The entries of a trace: the last one, and the last one that is forgotten. */
export interface Extent {
  readonly lastId: number;
  readonly forgotten: number;
}

export interface Exchange {
  /** The request or event first, then its faults and replies. */
  readonly entries: readonly TraceEntry[];
  readonly verdict: ExchangeVerdict;
  /** `undefined` for what is not signed. */
  readonly signature: ExaminedSignature | undefined;
}

export interface List<Item> {
  /** The number of all. */
  readonly total: number;
  readonly items: readonly Item[];
}

export type ListedDelivery = Omit<SandboxDelivery, 'body'>;

export interface ListedOrder extends SandboxOrder {
  /** The steps that it can take now. */
  readonly next: readonly SandboxOrderStep[];
  /** Its events, the oldest first. */
  readonly deliveries: readonly ListedDelivery[];
}

export interface PlayedOrder {
  readonly order: ListedOrder;
  /** The events that this posted. */
  readonly deliveries: readonly SandboxDelivery[];
}

export interface CreateOrderAnswer {
  /** The id of its request in the trace. */
  readonly exchange: number | undefined;
  /** The status of the reply; `undefined` if none arrived. */
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly partner_order_id: string;
}

export interface PostedDelivery extends SandboxDelivery {
  /** The id of this post in the trace. */
  readonly exchange: number | undefined;
}
