import { useEffect, useState } from 'preact/hooks';
import { type Delivery, type Exchange, get, isListening, pathOf, post } from './api.ts';
import { Faults, SignatureBadge, Status } from './badges.tsx';
import { MessageView } from './message-view.tsx';
import type { Row } from './rows.ts';
import { SignatureView } from './signature-view.tsx';
import { attempt, openOrder, update } from './store.ts';
import { shownTime } from './time.ts';

/** A request or an event with everything that is known of it. */
export function ExchangeDetail({ row }: { row: Row }) {
  const [exchange, setExchange] = useState<Exchange | undefined>();
  const [problem, setProblem] = useState('');
  const { id, isAnswered } = row;
  useEffect(() => {
    get<Exchange>(pathOf`trace/${id}`).then(setExchange, (error: Error) => setProblem(error.message));
  }, [id, isAnswered]);
  const [first, ...others] = exchange?.entries ?? [];
  const replies = others.filter(({ kind }) => kind === 'reply' || kind === 'event_reply');
  return (
    <article class="detail" aria-label={`${row.name} #${row.id}`}>
      <div class="detail-head">
        <h2>
          {row.name} <span class="muted">#{row.id}</span>
        </h2>
        <button
          type="button"
          class="quiet icon"
          aria-label="Close"
          onClick={() => update({ selectedRow: undefined })}
        >
          ×
        </button>
      </div>
      <p class="facts">
        {row.kind !== 'fault' && <Status {...row} />}
        <Faults faults={row.faults} />
        <SignatureBadge signature={row.signature} />
        <span class="muted">{shownTime(row.time)}</span>
        {row.durationMs !== undefined && <span class="muted">{Math.round(row.durationMs)} ms</span>}
        {row.order !== '' && isListening && <span class="muted">Order {row.order}</span>}
        {row.order !== '' && !isListening && (
          <button type="button" class="link" onClick={() => openOrder(row.order)}>
            Order {row.order}
          </button>
        )}
      </p>
      {row.where !== '' && <p class="where">{row.where}</p>}
      {row.delivery !== undefined && <DeliveryButtons id={row.delivery} />}
      {problem !== '' && <p class="notice bad">{problem}</p>}
      {exchange?.signature !== undefined && (
        <SignatureView signature={exchange.signature} explain={row.faults.length === 0} id={row.id} />
      )}
      {first !== undefined && row.kind !== 'fault' && (
        <MessageView title={row.kind === 'event' ? 'Event' : 'Request'} message={first} />
      )}
      {replies.map((reply) => (
        <MessageView
          key={reply.id}
          title={`${row.kind === 'event' ? answerTitle : 'Reply'}${reply.status === undefined ? '' : ` ${reply.status}`}`}
          message={reply}
        />
      ))}
    </article>
  );
}

const answerTitle = isListening ? 'Answer' : 'Answer of the partner';

const redeliver = { path: 'redeliver', title: 'Redeliver', hint: 'Post the same text again' } as const;
/** What can be done with an event that was posted. What came in is replayed as it came, and in no other way. */
const actions = [
  redeliver,
  { path: 'forge', title: 'Forge', hint: 'Post a copy signed with a key that nobody issued' },
  { path: 'tamper', title: 'Tamper', hint: 'Post a copy with another amount under the old signature' },
] as const;
const possible = isListening ? [{ ...redeliver, title: 'Replay' }] : actions;

export function DeliveryButtons({ id }: { id: string }) {
  return (
    <div class="buttons">
      {possible.map(({ path, title, hint }) => (
        <button
          key={path}
          type="button"
          title={hint}
          onClick={() =>
            attempt(title, async () => {
              const { status, error } = await post<Delivery>(`${pathOf`deliveries/${id}`}/${path}`);
              return status === undefined ? `no answer (${error ?? 'unknown'})` : `answered with ${status}`;
            })
          }
        >
          {title}
        </button>
      ))}
    </div>
  );
}
