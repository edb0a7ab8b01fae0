import type { DeliveryStory } from '../../../../inbox/inbox.ts';
import { printableText } from '../../../../internal/printable-text.ts';

export function storyLines({ digest, state, name, receivedAt, ...story }: DeliveryStory): string[] {
  const { attempts = 0, dueAt, isAlone, reason = '', steps } = story;
  const lines = [`digest:   ${digest}`, `state:    ${state}`];
  if (receivedAt === undefined) return lines;
  return [
    ...lines,
    `name:     ${printableText(name ?? '')}`,
    `attempts: ${attempts}${isAlone ? ', alone since its process died' : ''}`,
    `received: ${receivedAt.toISOString()}`,
    ...steps.map(({ at, what, attempt, code }) => {
      const why = code === undefined ? '' : ` (${printableText(code)})`;
      return `          ${at.toISOString()} attempt ${attempt}: ${stepWords[what]}${why}`;
    }),
    ...(state === 'held' ? [`held:     ${holderLine({ digest, state, ...story })}`] : []),
    ...(state === 'waiting' && dueAt !== undefined ? [`due:      ${dueAt.toISOString()}`] : []),
    ...(reason === '' ? [] : [`reason:   ${printableText(reason)}`]),
  ];
}

const stepWords: Readonly<Record<DeliveryStory['steps'][number]['what'], string>> = {
  failed: 'failed',
  'put-back': 'put back: no handler, or a stop',
  'lease-lost': 'its process died, or was late',
  dead: 'failed for the last time',
  replayed: 'replayed by a person',
};

/** Who holds a delivery, and until when. */
export function holderLine({ holder, dueAt }: DeliveryStory): string {
  const until = dueAt === undefined ? '' : ` until ${dueAt.toISOString()}`;
  if (holder === undefined) return `held by a process of an earlier version${until}`;
  if (holder.hasEnded)
    return `was held by process ${holder.pid}, which has ended; taken over${until.replace('until', 'at the latest after')}`;
  return `held by process ${holder.pid}${until}`;
}

/** What to do about it. */
export function adviceOf({ digest, state, attempts, holder }: DeliveryStory): string {
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
