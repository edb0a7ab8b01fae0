import { useMemo } from 'preact/hooks';
import type { ListedEntry } from './api.ts';
import { Card } from './detail.tsx';
import { useExchange } from './exchange-detail.tsx';
import { type DiffLine, lineDiff } from './line-diff.ts';
import { maxShown, prettyText } from './message-view.tsx';
import { update } from './store.ts';
import type { Row } from './traffic-rows.ts';

export function CompareView({ one, other }: { one: Row; other: Row }) {
  const [before, after] = [useExchange(one), useExchange(other)];
  const [first, second] = [before.exchange?.entries, after.exchange?.entries];
  const problem = before.problem ?? after.problem;
  const name = `#${one.id} and #${other.id}`;
  return (
    <article class="detail" aria-label={`Comparison of ${name}`}>
      <div class="detail-head">
        <h2>Comparison</h2>
        <button type="button" onClick={() => update({ compared: undefined })}>
          End comparing
        </button>
      </div>
      <p class="facts">
        <span class="removed">
          − {one.name} <span class="muted">#{one.id}</span>
        </span>
        <span class="added">
          + {other.name} <span class="muted">#{other.id}</span>
        </span>
      </p>
      {problem !== undefined && <p class="notice bad">{problem}</p>}
      {first !== undefined && second !== undefined && (
        <>
          <Part title="Headers" before={headersOf(first[0])} after={headersOf(second[0])} />
          <Part title="Body" before={bodyOf(first[0])} after={bodyOf(second[0])} />
          <Part title="Answer" before={answerOf(answerIn(first))} after={answerOf(answerIn(second))} />
        </>
      )}
    </article>
  );
}

const answerIn = (entries: readonly ListedEntry[]) =>
  entries.findLast(({ kind }) => kind === 'reply' || kind === 'event_reply');

function Part({ title, before, after }: { title: string; before: string; after: string }) {
  const lines = useMemo(() => lineDiff(before, after), [before, after]);
  const isEqual = lines.every(({ kind }) => kind === 'same');
  return (
    <Card
      title={title}
      label={title}
      aside={isEqual && <span class="muted">{before === '' ? 'none' : 'the same'}</span>}
    >
      {before + after !== '' && (
        <pre class="diff">
          {lines.map(({ kind, text }, index) => (
            <span key={index} class={kind}>
              {`${signs[kind]} ${text}\n`}
            </span>
          ))}
        </pre>
      )}
    </Card>
  );
}

const signs: Readonly<Record<DiffLine['kind'], string>> = { same: ' ', removed: '−', added: '+' };

function headersOf(message: ListedEntry | undefined): string {
  return Object.entries(message?.headers ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .sort()
    .join('\n');
}

function bodyOf(message: ListedEntry | undefined): string {
  const body = message?.body ?? '';
  return prettyText(body.slice(0, maxShown));
}

function answerOf(message: ListedEntry | undefined): string {
  if (message === undefined) return '';
  const status = message.status === undefined ? (message.note ?? 'no answer') : String(message.status);
  return [status, bodyOf(message)].filter((text) => text !== '').join('\n');
}
