import type { DeliveryStatus } from '../../../../inbox/inbox.ts';
import { printableText } from '../../../../internal/printable-text.ts';

export function deliveryLines({ digest, state, name, receivedAt, ...rest }: DeliveryStatus): string[] {
  const { attempts = 0, dueAt, reason = '' } = rest;
  const lines = [`digest:   ${digest}`, `state:    ${state}`];
  if (receivedAt === undefined) return lines;
  return [
    ...lines,
    `name:     ${printableText(name ?? '')}`,
    `attempts: ${attempts}`,
    `received: ${receivedAt.toISOString()}`,
    ...(dueAt === undefined
      ? []
      : [`${state === 'held' ? 'until:   ' : 'due:     '} ${dueAt.toISOString()}`]),
    ...(reason === '' ? [] : [`reason:   ${printableText(reason)}`]),
  ];
}

/** What to do about it. */
export function adviceOf({ digest, state, attempts }: DeliveryStatus): string {
  const short = digest.slice(0, 12);
  switch (state) {
    case 'dead':
      return `Mend the cause, then "inbox replay ${short}"; or "inbox discard ${short}".`;
    case 'held':
      return 'Nothing: if its process is gone, another one takes it over when the lease ends.';
    case 'waiting':
      return attempts === 0
        ? 'Nothing, if a process that handles this inbox runs, and has handlers.'
        : 'Nothing: it is tried again when it is due. Mend the cause until then.';
    case 'handled':
      return 'Nothing: it was handled or discarded, and only its digest is kept.';
  }
}
