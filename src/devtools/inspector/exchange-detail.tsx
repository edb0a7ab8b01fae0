import { useEffect, useState } from 'preact/hooks';
import type { Exchange, PostedDelivery } from '../sandbox/control/answers.ts';
import type { ExchangeVerdict } from '../sandbox/control/exchange-verdict.ts';
import { call, get, pathOf } from './api.ts';
import {
  ActionButton,
  Card,
  Changes,
  CopyButton,
  cut,
  Detail,
  describePost,
  Facts,
  Faults,
  Status,
  timeText,
} from './elements.tsx';
import { prettyJson } from './pretty-json.ts';
import { openExchange, openOrder } from './store.ts';
import type { Row } from './traffic-rows.ts';

type Entry = Exchange['entries'][number];
type Signature = NonNullable<Exchange['signature']>;

export function ExchangeDetail({ row }: { row: Row }) {
  const { exchange, problem } = useExchange(row);
  const messages = exchange?.entries.filter(({ kind }) => kind !== 'fault') ?? [];
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
        <span class="muted">{timeText(row.time)}</span>
        {row.durationMs !== undefined && <span class="muted">{Math.round(row.durationMs)} ms</span>}
        {row.order !== '' && (
          <button type="button" class="link" onClick={() => openOrder(row.order)}>
            Order {cut(row.order)}
          </button>
        )}
      </p>
      {row.where !== '' && <p class="where">{row.where}</p>}
      {problem !== undefined && <p class="notice bad">{problem}</p>}
      {exchange !== undefined && <Verdict {...exchange.verdict} />}
      {row.delivery !== undefined && <DeliveryButtons id={row.delivery} />}
      {exchange?.signature !== undefined && (
        <SignatureCard {...exchange.signature} isPlanned={row.faults.length > 0} />
      )}
      {messages.map((message) => (
        <MessageCard key={message.id} message={message} />
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

const verdicts = {
  good: { tone: 'good', mark: '✓' },
  bad: { tone: 'bad', mark: '✗' },
  waiting: { tone: 'wait', mark: '…' },
} as const;

function Verdict({ result, reason, next }: ExchangeVerdict) {
  const { tone, mark } = verdicts[result];
  return (
    <div class={`verdict ${tone}`}>
      <p>
        <b>{`${mark} ${reason}`}</b>
      </p>
      {next.map((step) => (
        <p key={step}>{step}</p>
      ))}
    </div>
  );
}

const posts = [
  { as: 'again', title: 'Post again', hint: 'Post the same text again' },
  { as: 'forged', title: 'Forge', hint: 'Post a copy signed with a key that nobody issued' },
  { as: 'tampered', title: 'Tamper', hint: 'Post a copy with another amount under the old signature' },
] as const;

/** Posts an event once more, and opens what came of it. */
export function DeliveryButtons({ id }: { id: string }) {
  return (
    <Changes>
      <div class="buttons">
        {posts.map(({ as, title, hint }) => (
          <ActionButton
            key={as}
            hint={hint}
            act={async () => {
              const posted = await call<PostedDelivery>('POST', pathOf`deliveries/${id}/post`, { as });
              if (posted.exchange !== undefined) openExchange(posted.exchange);
              return describePost(posted);
            }}
          >
            {title}
          </ActionButton>
        ))}
      </div>
    </Changes>
  );
}

interface SignatureCardProps extends Signature {
  /** Whether a fault of the exchange explains a signature that does not hold. */
  readonly isPlanned: boolean;
}

function SignatureCard({ isPlanned, holds, sentences, signedText }: SignatureCardProps) {
  return (
    <Card
      tone={holds ? 'good' : isPlanned ? '' : 'bad'}
      title={holds ? '✓ The signature holds' : '✗ The signature does not hold'}
    >
      <div class="pad">
        {sentences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
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

const messageTitles: Readonly<Record<Entry['kind'], string>> = {
  request: 'Request',
  reply: 'Reply of the service',
  event: 'Event',
  event_reply: 'Answer of the receiver',
  fault: 'Fault',
};

/** A longer text makes the page slow. The API has all of it. */
const maxText = 200_000;

function MessageCard({ message }: { message: Entry }) {
  const { kind, status, body = '', headers = {}, note } = message;
  return (
    <Card
      title={`${messageTitles[kind]}${status === undefined ? '' : ` ${status}`}`}
      aside={
        body !== '' && (
          <div class="buttons">
            <CopyButton title="Copy body" text={body} />
            {(kind === 'request' || kind === 'event') && (
              <CopyButton title="Copy as curl" text={curlCommand(message)} />
            )}
          </div>
        )
      }
    >
      {note !== undefined && <p class="muted pad">{note}</p>}
      {body === '' ? <p class="muted pad">No body.</p> : <Body text={body} />}
      {Object.keys(headers).length > 0 && (
        <details class="pad">
          <summary>Headers</summary>
          <Facts facts={Object.entries(headers)} />
        </details>
      )}
    </Card>
  );
}

function Body({ text }: { text: string }) {
  const isCut = text.length > maxText;
  const tokens = isCut ? undefined : prettyJson(text);
  return (
    <>
      <pre>
        {tokens?.map(({ kind, text }, index) => (
          <span key={index} class={kind}>
            {text}
          </span>
        )) ?? text.slice(0, maxText)}
      </pre>
      {isCut && <p class="muted pad">{`The first ${maxText} of ${text.length} characters.`}</p>}
    </>
  );
}

/** A client writes these itself. */
const ownHeaders =
  /^(?:connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** A command for a POSIX shell. Its keys open the sandbox alone: the API hides those that the caller gave. */
function curlCommand({ method = 'POST', url = '', headers = {}, body = '' }: Entry): string {
  const sent = Object.entries(headers).filter(([name]) => !ownHeaders.test(name));
  return [
    `curl -sS -X ${quoted(method)}`,
    ...sent.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-raw ${quoted(body)}`,
    quoted(url),
  ].join(' \\\n  ');
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
