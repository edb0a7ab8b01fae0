import type { ComponentChildren } from 'preact';
import { resultOf } from '../sandbox/control/exchange-verdict.ts';
import { attempt, navigate, useStore } from './store.ts';

interface DetailProps {
  readonly label: string;
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The pane beside a list, with the selected item. */
export function Detail({ label, title, children }: DetailProps) {
  return (
    <article class="detail" aria-label={label}>
      <div class="detail-head">
        <h2>{title}</h2>
        <button type="button" class="quiet icon" aria-label="Close" onClick={() => navigate({ open: '' })}>
          ×
        </button>
      </div>
      {children}
    </article>
  );
}

interface CardProps {
  readonly title: ComponentChildren;
  readonly heading?: 'h2' | 'h3';
  readonly tone?: string | undefined;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Card({ title, heading: Heading = 'h3', tone = '', aside, children }: CardProps) {
  return (
    <section class={`card ${tone}`}>
      <div class="card-head">
        <Heading>{title}</Heading>
        {aside}
      </div>
      {children}
    </section>
  );
}

export function Facts({ facts }: { facts: readonly (readonly [name: string, value: string])[] }) {
  return (
    <dl class="values">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Controls that change something: disabled without the token. */
export function Changes({ children }: { children: ComponentChildren }) {
  const { hasToken } = useStore();
  const title = hasToken ? undefined : 'This needs the token: see the top of the page.';
  return (
    <fieldset class="changes" disabled={!hasToken} title={title}>
      {children}
    </fieldset>
  );
}

interface ActionProps {
  readonly children: ComponentChildren;
  /** The notice of success. @default the text of the button */
  readonly done?: string;
  readonly hint?: string;
  readonly tone?: string;
  readonly act: () => Promise<unknown>;
}

export function ActionButton({ children, done, hint, tone, act }: ActionProps) {
  return (
    <button type="button" title={hint} class={tone} onClick={() => attempt(done ?? String(children), act)}>
      {children}
    </button>
  );
}

export function CopyButton({ title, text }: { title: string; text: string }) {
  return (
    <ActionButton done={title.replace('Copy', 'Copied')} act={() => copy(text)}>
      {title}
    </ActionButton>
  );
}

/** Browsers have a clipboard on this machine and over HTTPS. */
async function copy(text: string): Promise<void> {
  const clipboard: Clipboard | undefined = navigator.clipboard;
  if (clipboard === undefined)
    throw new Error('The browser copies only from a page on this machine, or over HTTPS.');
  await clipboard.writeText(text);
}

interface ActionFormProps extends ActionProps {
  readonly done: string;
}

export function ActionForm({ children, done, act }: ActionFormProps) {
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        void attempt(done, act);
      }}
    >
      {children}
    </form>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  /** The names to choose from, by the title of their group. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  readonly onChange: (value: string) => void;
}

export function Choice({ label, value, groups, onChange }: ChoiceProps) {
  return (
    <label>
      <span class="muted">{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {Object.entries(groups).map(([group, names]) => (
          <optgroup key={group} label={group}>
            {names.map((name) => (
              <option key={name} value={name}>
                {name.replaceAll('_', ' ')}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

const resultTones = { good: 'good', bad: 'bad', waiting: 'wait' } as const;

interface StatusProps {
  readonly status?: number | undefined;
  readonly isAnswered: boolean;
  readonly faults: readonly string[];
  readonly note?: string | undefined;
}

/** The HTTP status of a request or an event, or why it has none. */
export function Status(props: StatusProps) {
  const { status, isAnswered, note } = props;
  const text = isAnswered ? (status ?? cut(note ?? 'no reply')) : 'waiting';
  return <span class={`pill ${resultTones[resultOf(props)]}`}>{text}</span>;
}

export function Faults({ faults }: { faults: readonly string[] }) {
  return faults.map((fault) => (
    <span key={fault} class="pill fault">
      {cut(fault.replaceAll('_', ' '))}
    </span>
  ));
}

/** A value in a list: a megabyte of text in one line makes the page slow. The detail has all of it. */
export function cut(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** The result of a post, in words. */
export function describePost({ status, error }: { status?: number | undefined; error?: string | undefined }) {
  return status === undefined ? `no answer (${error ?? 'not posted'})` : `answered with ${status}`;
}

const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const time = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hour12: false,
});

export const dateText = (ms: number) => date.format(ms);
export const timeText = (ms: number) => time.format(ms);
