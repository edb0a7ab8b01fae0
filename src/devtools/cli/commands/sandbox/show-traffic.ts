import { printableText } from '../../../../internal/printable-text.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import type { TraceEntry } from '../../../sandbox/world/trace.ts';
import type { Output } from '../../terminal/output.ts';
import type { Paint } from '../../terminal/terminal-text.ts';

/** Prints what goes over the wire, without bodies and headers: they hold keys and personal data. */
export function showTraffic(simulated: Sandbox, output: Output): void {
  let seen = simulated.emails.length;
  simulated.trace.subscribe((entry) => {
    if (output.format === 'json') output.item(traceItem(entry), () => '');
    else output.status((paint) => describeTrace(entry, paint));
    for (const { to, partner_code, link } of simulated.emails.slice(seen)) {
      seen++;
      // The partner would get this link. It opens nothing but the sandbox.
      output.status(
        (paint) =>
          `${paint('cyan', 'e-mail')} to ${printableText(to)} for ${printableText(partner_code)}: ${link}`,
      );
    }
  });
}

/** An entry for programs: without headers and bodies, which hold keys. */
function traceItem(entry: TraceEntry): object {
  const { headers: _headers, body: _body, url: _url, ...facts } = entry;
  return facts;
}

function describeTrace(entry: TraceEntry, paint: Paint): string {
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
