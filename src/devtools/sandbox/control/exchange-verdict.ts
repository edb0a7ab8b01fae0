import { tryParse } from '../../../internal/json.ts';
import { isForgery } from '../settings/event-faults.ts';
import type { TraceEntry } from '../world/trace.ts';

/** How an exchange ended, why, and what to do. */
export interface ExchangeVerdict {
  readonly result: Result;
  readonly reason: string;
  readonly next: readonly string[];
}

type Result = 'good' | 'bad' | 'waiting';

interface Answer {
  readonly status?: number | undefined;
  readonly isAnswered: boolean;
  readonly faults: readonly string[];
}

/** Whether the exchange went as it should. A refused forgery is good, an accepted one is bad. */
export function resultOf(answer: Answer): Result {
  const { status, isAnswered } = answer;
  if (!isAnswered) return 'waiting';
  if (status === undefined) return 'bad';
  if (isForgery(answer)) return isRefusal(status) ? 'good' : 'bad';
  return status < 300 ? 'good' : 'bad';
}

export function explainExchange(entries: readonly TraceEntry[]): ExchangeVerdict {
  const [first] = entries;
  const reply = entries.findLast(({ kind }) => kind === 'reply' || kind === 'event_reply');
  const faults = [...new Set(entries.flatMap((entry) => entry.faults))];
  const isFault = first?.kind === 'fault';
  const result = resultOf({ status: reply?.status, isAnswered: isFault || reply !== undefined, faults });
  if (first === undefined || result === 'waiting') return { result, reason: 'Not answered yet.', next: [] };
  if (isFault) return { result, reason: `Not posted: this event had the fault ${faults.join()}.`, next: [] };
  const exchange = { first, reply, faults };
  const [reason, ...next] = first.kind === 'event' ? ofEvent(exchange) : ofRequest(exchange);
  return { result, reason, next };
}

interface ExchangeFacts {
  readonly first: TraceEntry;
  readonly reply: TraceEntry | undefined;
  readonly faults: readonly string[];
}

/** The reason, then what to do. */
type Sentences = readonly [reason: string, ...next: string[]];

function ofRequest({ reply, faults }: ExchangeFacts): Sentences {
  const status = reply?.status;
  const played = faults.length === 0 ? [] : [`This request had the planned fault ${faults.join()}.`];
  if (status === undefined)
    return [
      `The caller got no reply: ${reply?.note ?? 'the connection broke'}.`,
      ...played,
      'The sandbox may have acted: look before the caller repeats it.',
    ];
  if (status < 300) return [`The sandbox replied ${status}.`, ...played];
  const value = tryParse(reply?.body ?? '');
  const message = (value as { message?: unknown } | null | undefined)?.message;
  return [`Refused with ${status}${typeof message === 'string' ? `: ${message}` : '.'}`, ...played];
}

function ofEvent({ first: { url = '' }, reply, faults }: ExchangeFacts): Sentences {
  const status = reply?.status;
  const attack = `"partner-exchange attack ${url}" names the fault of the receiver.`;
  const log = 'Look at its log, then post the event again.';
  if (status === undefined)
    return [`The receiver at ${url} gave no answer: ${reply?.note}.`, `Is it running there? ${log}`];
  if (status >= 500) return [`The receiver failed with ${status}.`, log];
  if (isForgery({ faults })) {
    const kind = faults.includes('tampered') ? 'an event that was changed after signing' : 'a forged event';
    if (isRefusal(status)) return [`The receiver refused ${kind}, as it should.`];
    return [`The receiver accepted ${kind}: anybody could claim that an order was paid.`, attack];
  }
  if (status < 300) return ['The receiver acknowledged the event.'];
  if (status < 400) return [`The receiver redirects (${status}), and the service follows no redirect.`];
  if (faults.includes('old_key'))
    return [`The receiver refused an event that keys before the last regeneration signed (${status}).`];
  return [
    `The receiver refused a genuine event with ${status}.`,
    'It has other keys or another path, or it verifies a body that was parsed and written again: give it the raw bytes.',
    attack,
  ];
}

const isRefusal = (status: number) => status >= 400 && status < 500;
