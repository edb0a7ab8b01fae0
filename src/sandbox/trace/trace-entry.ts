import type { SandboxOperation } from '../faults/fault-table.ts';

/**
 * What happened on the wire of a sandbox. `request`: to the service; `reply`: of the service; `event`: posted to a
 * partner; `event_reply`: of the partner; `fault`: what was played, before what it befalls.
 */
export type TraceKind = 'request' | 'reply' | 'event' | 'event_reply' | 'fault';

/** One thing that happened on the wire of a sandbox. What does not apply to its kind is `undefined`. */
export interface TraceEntry {
  /** Counts up from 1, without gaps. */
  readonly id: number;
  readonly kind: TraceKind;
  /** Milliseconds since the epoch, on the sandbox's clock. */
  readonly time: number;
  /** The `id` of the request or event that this belongs to; its own for those. */
  readonly exchange: number;
  /** The operation at the request's address; `undefined` where there is none, and for events. */
  readonly operation: SandboxOperation | undefined;
  /** `event_name` of an event. */
  readonly event: string | undefined;
  /** The id in `sandbox.deliveries` of an event. */
  readonly delivery: string | undefined;
  /** `partner_order_id` of the order that it is about, where that is known. */
  readonly order: string | undefined;
  readonly method: string | undefined;
  readonly url: string | undefined;
  /** HTTP status of a reply; `undefined` if none arrived. */
  readonly status: number | undefined;
  /** Milliseconds from the request to its reply, or from the event to its answer, on the sandbox's clock. */
  readonly durationMs: number | undefined;
  /** As sent, secrets included: the sandbox's keys open nothing but the sandbox. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** The exact text of the body; bytes that are not UTF-8 are shown as U+FFFD. */
  readonly body: string | undefined;
  /** The faults of a request or an event, in one word each. */
  readonly faults: readonly string[];
  /** Why an event was not answered (`ECONNREFUSED`), or what a fault does. */
  readonly note: string | undefined;
}

/** What a part of the sandbox tells the trace. */
export type TraceFacts = Pick<TraceEntry, 'kind'> &
  Partial<Omit<TraceEntry, 'id' | 'time' | 'kind'>> & { readonly exchange?: number | undefined };
