import { requestRefusalRemedies, signatureRemedies } from '../../../errors/remedies.ts';
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

function ofEvent(exchange: ExchangeFacts): Sentences {
  const { first, reply, faults } = exchange;
  const status = reply?.status;
  if (status === undefined) return ofSilence(first, reply?.note);
  if (isForgery({ faults })) return ofForgery(exchange, status);
  if (status < 300) return ['The receiver acknowledged the event.'];
  if (status < 400) return [`The receiver redirects (${status}), and the service follows no redirect.`];
  if (status >= 500)
    return [`The receiver failed with ${status}.`, 'Look at its log, then post the event again.'];
  if (faults.includes('old_key'))
    return [`The receiver refused an event that keys before the last regeneration signed (${status}).`];
  const remedy = remedies[status];
  return [
    `A genuine event was refused: the sandbox signed it as the service does, and the receiver answered ${status}.`,
    ...(remedy === undefined ? [] : [remedy]),
    ...(remedy === badKeys ? [`${attackOf(first)} names the fault of the receiver.`] : []),
  ];
}

function ofForgery({ first, faults }: ExchangeFacts, status: number): Sentences {
  const kind = faults.includes('tampered') ? 'an event that was changed after signing' : 'a forged event';
  if (isRefusal(status)) return [`The receiver refused ${kind}, as it should.`];
  if (status >= 500)
    return [
      `The receiver failed with ${status} at ${kind}: it has to refuse it with 401.`,
      'Look at its log.',
    ];
  return [
    `The receiver accepted ${kind}: anybody could claim that an order was paid.`,
    'Verify the signature before anything else acts on the body.',
    `${attackOf(first)} names the fault of the receiver.`,
  ];
}

/** The advice for a receiver that did not answer, by the code of the system. */
function ofSilence({ url = '' }: TraceEntry, code = 'no answer'): Sentences {
  const host = URL.canParse(url) ? new URL(url).host : url;
  const again = 'Then post the event again.';
  const advice: Readonly<Record<string, Sentences>> = {
    ECONNREFUSED: [`Nothing listens at ${host}.`, `Start your receiver. ${again}`],
    ENOTFOUND: [`No host has the name ${host}.`, 'Correct partner_callback_url of the order.'],
    ECONNRESET: [`The receiver at ${host} closed the connection.`, `Look at its log. ${again}`],
    TimeoutError: [`The receiver at ${host} did not answer in time.`, 'Answer before the event is handled.'],
  };
  return advice[code] ?? [`The receiver at ${host} gave no answer: ${code}.`];
}

const attackOf = ({ url = '' }: TraceEntry) => `"partner-exchange attack ${url}"`;

const isRefusal = (status: number) => status >= 400 && status < 500;

const badKeys =
  'The receiver has other keys, or it verifies a body that was parsed and written again: give it the raw bytes.';

/** The advice for the status with which a receiver refused a genuine event. */
const remedies: Readonly<Record<number, string>> = {
  400: signatureRemedies.body_not_json,
  401: badKeys,
  403: badKeys,
  404: 'The receiver takes no events at this path: correct partner_callback_url of the order.',
  405: requestRefusalRemedies.method_not_allowed,
  408: requestRefusalRemedies.body_timeout,
  413: requestRefusalRemedies.body_too_large,
  415: 'Have the receiver read the body whatever its headers say: the signature covers the bytes.',
};
