import { useEffect, useState } from 'preact/hooks';
import { isForgery } from '../sandbox/settings/event-faults.ts';
import {
  type Exchange,
  type Explanation,
  get,
  isListening,
  type PostedEvent,
  pathOf,
  post,
  type Signature,
} from './api.ts';
import { Card, Detail } from './detail.tsx';
import { Changes, cut, describePostResult, Faults, SignatureBadge, Status, shownTime } from './labels.tsx';
import { MessageView } from './message-view.tsx';
import { SendAgain } from './send-again.tsx';
import { attempt, openOrder } from './store.ts';
import { type Row, verdictOf } from './traffic-rows.ts';

export function ExchangeDetail({ row }: { row: Row }) {
  const { exchange, problem } = useExchange(row);
  const [first, ...others] = exchange?.entries ?? [];
  const replies = others.filter(({ kind }) => kind === 'reply' || kind === 'event_reply');
  return (
    <Detail
      label={`${row.name} #${row.id}`}
      title={
        <>
          {cut(row.name)} <span class="muted">#{row.id}</span>
        </>
      }
    >
      <p class="facts">
        {row.kind !== 'fault' && <Status {...row} />}
        <Faults faults={row.faults} />
        <SignatureBadge signature={row.signature} />
        <span class="muted">{shownTime(row.time)}</span>
        {row.durationMs !== undefined && <span class="muted">{Math.round(row.durationMs)} ms</span>}
        {row.order !== '' && isListening && <span class="muted">Order {cut(row.order)}</span>}
        {row.order !== '' && !isListening && (
          <button type="button" class="link" onClick={() => openOrder(row.order)}>
            Order {cut(row.order)}
          </button>
        )}
      </p>
      {row.where !== '' && <p class="where">{row.where}</p>}
      {isForgery(row) && row.isAnswered && <ForgeryNote row={row} />}
      {row.delivery !== undefined && <DeliveryButtons id={row.delivery} />}
      {problem !== undefined && <p class="notice bad">{problem}</p>}
      {exchange?.advice !== undefined && <Advice sentences={exchange.advice} />}
      {exchange?.signature !== undefined && (
        <SignatureView signature={exchange.signature} explain={row.faults.length === 0} id={row.id} />
      )}
      {exchange?.readings !== undefined && <Readings readings={exchange.readings} />}
      {first !== undefined && row.kind !== 'fault' && (
        <MessageView title={row.kind === 'event' ? 'Event' : 'Request'} message={first} />
      )}
      {first !== undefined && canSend(row) && (
        <SendAgain message={first} isSigned={exchange?.signature !== undefined} />
      )}
      {replies.map((reply) => (
        <MessageView
          key={reply.id}
          title={`${row.kind === 'event' ? answerTitle : 'Reply'}${reply.status === undefined ? '' : ` ${reply.status}`}`}
          message={reply}
        />
      ))}
    </Detail>
  );
}

/** Reads an exchange, and again when it is answered. */
function useExchange({ id, isAnswered }: Row): { exchange?: Exchange; problem?: string } {
  const [result, setResult] = useState({});
  useEffect(() => {
    get<Exchange>(pathOf`trace/${id}`).then(
      (exchange) => setResult({ exchange }),
      (error: Error) => setResult({ problem: error.message }),
    );
  }, [id, isAnswered]);
  return result;
}

/** An event of `listen` needs a receiver; then it has the id of a delivery. */
function canSend({ kind, delivery }: Row): boolean {
  return kind !== 'fault' && (!isListening || delivery !== undefined);
}

const answerTitle = isListening ? 'Answer' : 'Answer of the partner';

const redeliver = { path: 'redeliver', title: 'Redeliver', hint: 'Post the same text again' } as const;
/** Actions on a posted event. An event of `listen` can only be replayed. */
const actions = [
  redeliver,
  { path: 'forge', title: 'Forge', hint: 'Post a copy signed with a key that nobody issued' },
  { path: 'tamper', title: 'Tamper', hint: 'Post a copy with another amount under the old signature' },
] as const;
const possible = isListening ? [{ ...redeliver, title: 'Replay' }] : actions;

export function DeliveryButtons({ id }: { id: string }) {
  return (
    <Changes>
      <div class="buttons">
        {possible.map(({ path, title, hint }) => (
          <button
            key={path}
            type="button"
            title={hint}
            onClick={() =>
              attempt(title, async () =>
                describePostResult(await post<PostedEvent>(`${pathOf`deliveries/${id}`}/${path}`)),
              )
            }
          >
            {title}
          </button>
        ))}
      </div>
    </Changes>
  );
}

/** What to do about a genuine event that the receiver refused. */
function Advice({ sentences }: { sentences: readonly string[] }) {
  const [reason, ...steps] = sentences;
  return (
    <Card kind="signature bad" title="✗ A genuine event was refused">
      <div class="pad">
        <p>{reason}</p>
        <ul>
          {steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ul>
      </div>
    </Card>
  );
}

/** The members that the package reads in another form than they were sent in. */
function Readings({ readings }: { readings: NonNullable<Exchange['readings']> }) {
  return (
    <Card kind="signature" title="Read from another form">
      <div class="pad">
        <table>
          <caption>Members that are not in the documented form</caption>
          <thead>
            <tr>
              <th scope="col">Member</th>
              <th scope="col">Found</th>
              <th scope="col">Read as</th>
            </tr>
          </thead>
          <tbody>
            {readings.map(({ path, found, readAs }) => (
              <tr key={path.join('.')}>
                <th scope="row">{path.join('.')}</th>
                <td>{found}</td>
                <td>{readAs}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <p>
          Whether the service has drifted from what was learnt:{' '}
          <code>partner-exchange learn events --check deployment.json</code>{' '}
          <span class="muted">(docs/guides/learn.md)</span>
        </p>
      </div>
    </Card>
  );
}

function ForgeryNote({ row }: { row: Row }) {
  const isRefused = verdictOf(row) === 'good';
  return (
    <p class={isRefused ? 'verdict good' : 'verdict bad'}>
      {isRefused ? '✓ The receiver refused the forgery.' : '✗ The receiver did not refuse the forgery.'}
    </p>
  );
}

interface SignatureViewProps {
  readonly signature: Signature;
  /** Whether to explain a signature that does not hold. Under a fault, the fault is the reason. */
  readonly explain: boolean;
  readonly id: number;
}

function SignatureView({ signature, explain, id }: SignatureViewProps) {
  const { holds, key, isExpectedKey, reason, signedText, differences } = signature;
  const isGood = holds && isExpectedKey !== false;
  const problem = holds ? '✗ Signed with the wrong key' : '✗ The signature does not hold';
  return (
    <Card kind={`signature ${isGood ? 'good' : 'bad'}`} title={isGood ? '✓ The signature holds' : problem}>
      <div class="pad">
        {holds ? (
          <p>
            Made with the <b>{key}</b>
            {isExpectedKey === false && ', which is not the one for this'}.
          </p>
        ) : (
          <p>{reason?.message}</p>
        )}
        {differences.length > 0 && <Differences differences={differences} />}
        {!holds && explain && <Reasons id={id} />}
        {signedText !== undefined && (
          <details>
            <summary>The signed text</summary>
            <pre>{signedText}</pre>
          </details>
        )}
      </div>
    </Card>
  );
}

function Differences({ differences }: Pick<Signature, 'differences'>) {
  return (
    <table>
      <caption>What differs from the genuine event</caption>
      <thead>
        <tr>
          <th scope="col">Member</th>
          <th scope="col">Genuine</th>
          <th scope="col">Here</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ member, genuine, found }) => (
          <tr key={member}>
            <th scope="row">{member}</th>
            <td>{genuine ?? '–'}</td>
            <td>{found ?? '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Reasons({ id }: { id: number }) {
  const [explanation, setExplanation] = useState<Explanation | undefined>();
  useEffect(() => {
    get<Explanation>(pathOf`trace/${id}/explanation`).then(setExplanation, () => {});
  }, [id]);
  if (explanation === undefined) return null;
  return (
    <>
      <ul>
        {explanation.findings.map(({ id, what }) => (
          <li key={id + what}>{what}</li>
        ))}
      </ul>
      <p>
        <b>Next:</b> {explanation.findings[0]?.advice}
      </p>
    </>
  );
}
