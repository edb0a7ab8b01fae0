import { useMemo, useState } from 'preact/hooks';
import type { ListedEntry } from './api.ts';
import { CopyButtons } from './copy-buttons.tsx';
import { Card, Facts } from './detail.tsx';
import { prettyJson } from './pretty-json.ts';

const forms = ['pretty', 'raw', 'headers'] as const;
type Form = (typeof forms)[number];

/** A longer text makes the page slow. The API has all of it. */
const maxShown = 200_000;

export function MessageView({ title, message }: { title: string; message: ListedEntry }) {
  const { body, headers, note } = message;
  const [form, setForm] = useState<Form>('pretty');
  return (
    <Card
      title={title}
      aside={
        <fieldset class="segments" aria-label={`${title}: show`}>
          {forms.map((each) => (
            <button key={each} type="button" aria-pressed={each === form} onClick={() => setForm(each)}>
              {each}
            </button>
          ))}
        </fieldset>
      }
    >
      <CopyButtons message={message} />
      {note !== undefined && <p class="muted pad">{note}</p>}
      {form === 'headers' ? (
        <Headers headers={headers ?? {}} />
      ) : (
        <Body body={body ?? ''} isPretty={form === 'pretty'} />
      )}
    </Card>
  );
}

function Body({ body, isPretty }: { body: string; isPretty: boolean }) {
  const text = body.length > maxShown ? body.slice(0, maxShown) : body;
  const tokens = useMemo(
    () => (isPretty && text.length === body.length ? prettyJson(text) : undefined),
    [text, body, isPretty],
  );
  if (body === '') return <p class="muted pad">No body.</p>;
  return (
    <>
      <pre>
        {tokens === undefined
          ? text
          : tokens.map(({ kind, text }, index) =>
              kind === 'plain' ? (
                text
              ) : (
                <span key={index} class={kind}>
                  {text}
                </span>
              ),
            )}
      </pre>
      {text.length < body.length && (
        <p class="muted pad">
          The first {maxShown} of {body.length} characters.
        </p>
      )}
    </>
  );
}

function Headers({ headers }: { headers: Readonly<Record<string, string>> }) {
  const all = Object.entries(headers);
  if (all.length === 0) return <p class="muted pad">No headers.</p>;
  return <Facts facts={all} />;
}
