import { printableText } from '../../redaction/printable-text.ts';
import type { TraceEntry } from '../../sandbox/trace/trace-entry.ts';
import type { Paint } from './paint.ts';

/** What happened on the sandbox's wire, for programs: without headers and bodies, which hold keys. */
export function traceItem(entry: TraceEntry): object {
  const { headers: _headers, body: _body, url: _url, ...facts } = entry;
  return facts;
}

/** The same in one line. */
export function describeTrace(entry: TraceEntry, paint: Paint): string {
  const { kind, time, operation, event, order, status, durationMs, faults, note } = entry;
  const isFine = status !== undefined && status < 300;
  const words = [
    paint('dim', new Date(time).toISOString().slice(11, 19)),
    arrows[kind],
    operation ?? (event && printableText(event)),
    order && printableText(order),
    status && paint(isFine ? 'green' : 'red', String(status)),
    durationMs === undefined ? undefined : `(${Math.round(durationMs)} ms)`,
    faults.length === 0 ? undefined : paint('yellow', faults.join(' ')),
    note && printableText(note),
  ];
  return words.filter(Boolean).join(' ');
}

const arrows: Readonly<Record<TraceEntry['kind'], string>> = {
  request: '-->',
  reply: '<--',
  event: '==>',
  event_reply: '<==',
  fault: '!!!',
};
