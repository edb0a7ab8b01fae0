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
    ...(state === 'held' ? [`held:     ${holderLine(rest)}`] : []),
    ...(state === 'waiting' && dueAt !== undefined ? [`due:      ${dueAt.toISOString()}`] : []),
    ...(reason === '' ? [] : [`reason:   ${printableText(reason)}`]),
  ];
}

/** Who holds a delivery, and until when. */
export function holderLine({ holder, dueAt }: Pick<DeliveryStatus, 'holder' | 'dueAt'>): string {
  const until = dueAt === undefined ? '' : ` until ${dueAt.toISOString()}`;
  if (holder === undefined) return `held by a process${until}`;
  if (holder.hasEnded)
    return `was held by process ${holder.pid}, which has ended; taken over${until.replace('until', 'at the latest after')}`;
  return `held by process ${holder.pid}${until}`;
}

/** What to do about it. */
export function adviceOf({ digest, state, attempts, holder }: DeliveryStatus): string {
  const short = digest.slice(0, 12);
  switch (state) {
    case 'dead':
      return `Mend the cause, then "inbox replay ${short}"; or "inbox discard ${short}".`;
    case 'held':
      return holder?.hasEnded === true
        ? 'Start a process that handles this inbox: it takes the delivery over at once.'
        : 'Nothing: if its process is gone, another one takes it over when the lease ends.';
    case 'waiting':
      return attempts === 0
        ? 'Nothing, if a process that handles this inbox runs, and has handlers.'
        : 'Nothing: it is tried again when it is due. Mend the cause until then.';
    case 'handled':
      return 'Nothing: it was handled or discarded, and only its digest is kept.';
  }
}
