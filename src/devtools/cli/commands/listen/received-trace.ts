import { redactUrl } from '../../../../internal/redaction.ts';
import { createTraceLog } from '../../../sandbox/trace.ts';
import { type NoAnswer, pathAt, type ReceiverAnswer } from '../../deliveries/post-delivery.ts';
import type { SavedRequest } from '../../deliveries/saved-deliveries.ts';
import type { Received, SenderAnswer, Verdict } from './handle-request.ts';

export interface TracedDelivery {
  readonly verdict: Verdict;
  readonly delivery: SavedRequest;
}

export type ReceivedTrace = ReturnType<typeof createReceivedTrace>;

/** The trace keeps this many events and answers together. */
const maxEntries = 2_000;

/** The last received deliveries, for the inspector: a trace, and the exact bytes. */
export function createReceivedTrace(
  now: () => number,
  { forwardTo }: { readonly forwardTo?: URL | undefined },
) {
  const { add, view } = createTraceLog({ now, maxEntries, seed: '' });
  const deliveries = new Map<number, TracedDelivery>();
  const shownTo = forwardTo && new URL(redactUrl(forwardTo.href));

  function addEvent({ delivery, verdict }: TracedDelivery, note?: string): number {
    const { event_name, partner_order_id, signature } = verdict;
    const exchange = add({
      kind: 'event',
      event: event_name ?? 'no event_name',
      order: partner_order_id,
      method: 'POST',
      url: shownTo === undefined ? delivery.target : shownTo.origin + pathAt(shownTo, delivery),
      headers: headersOf(delivery),
      body: textOf(delivery.body),
      note: note ?? (signature === 'unchecked' ? 'There are no keys: it was not verified.' : undefined),
    });
    deliveries.set(exchange, { delivery, verdict });
    // The map holds the same events as the trace, in the order of their ids.
    forgetUpTo(view.forgotten);
    return exchange;
  }

  function addAnswer(exchange: number, answer: SenderAnswer, more: { durationMs?: number; note?: string }) {
    const { status, body } = answer;
    add({ kind: 'event_reply', exchange, status, headers: headersOf(answer), body: textOf(body), ...more });
  }

  function forgetUpTo(last: number): void {
    for (const id of deliveries.keys()) {
      if (id > last) break;
      deliveries.delete(id);
    }
  }

  return {
    view,
    add({ delivery, verdict, forwarded, answer }: Received): void {
      const exchange = addEvent({ delivery, verdict });
      const isMissing = forwarded !== undefined && forwarded.status === undefined;
      addAnswer(exchange, answer, {
        ...(forwarded && { durationMs: forwarded.durationMs }),
        ...(isMissing && { note: `No answer: ${forwarded.problem}` }),
      });
    },
    /** Adds a repetition of the event with the id `original`, or an edited copy of it. Returns its id. */
    addReplay(
      original: number,
      answer: ReceiverAnswer | NoAnswer,
      copy?: TracedDelivery,
    ): number | undefined {
      const traced = copy ?? deliveries.get(original);
      if (traced === undefined) return undefined;
      const exchange = addEvent(traced, `${copy ? 'Edited copy' : 'Replay'} of #${original}.`);
      const { durationMs } = answer;
      if (answer.status !== undefined) addAnswer(exchange, answer, { durationMs });
      else add({ kind: 'event_reply', exchange, durationMs, note: answer.problem });
      return exchange;
    },
    /** Finds an event by the id of its entry; `undefined` for any other entry, and for forgotten ones. */
    find: (id: number) => deliveries.get(id),
  };
}

/** The headers by their names in lower case. Several of one name mean the same as one with all values (RFC 9110, 5.3). */
function headersOf({ headers }: Pick<SavedRequest, 'headers'>): Record<string, string> {
  const byName = Map.groupBy(headers, ([name]) => name.toLowerCase());
  return Object.fromEntries(
    [...byName].map(([name, pairs]) => [name, pairs.map(([, value]) => value).join(', ')]),
  );
}

/** The text to show: bytes that are not UTF-8 become U+FFFD. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
