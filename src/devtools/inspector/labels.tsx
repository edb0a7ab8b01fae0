import type { ComponentChildren } from 'preact';
import { useStore } from './store.ts';
import { verdictOf } from './traffic-rows.ts';

const verdictStyles = { good: 'good', bad: 'bad', waiting: 'wait' } as const;

/** The HTTP status of a request or an event, or why it has none. */
export function Status(props: {
  status: number | undefined;
  isAnswered: boolean;
  faults: readonly string[];
  note?: string | undefined;
}) {
  const { status, isAnswered, note } = props;
  const verdict = verdictOf(props);
  const text = isAnswered ? (status ?? cut(note ?? 'no reply')) : 'waiting';
  // A redirect is neither.
  const isRedirect = verdict === 'good' && status !== undefined && status >= 300 && status < 400;
  return <span class={`pill ${isRedirect ? 'wait' : verdictStyles[verdict]}`}>{text}</span>;
}

/** A value in a list: a megabyte of text in one line makes the page slow. The detail has all of it. */
export function cut(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

export interface PostResult {
  readonly status?: number | undefined;
  readonly error?: string | undefined;
  /** The parts that a copy lacks. */
  readonly lacks?: readonly string[] | undefined;
}

/** The result of a post, in words. */
export function describePostResult({ status, error, lacks }: PostResult): string {
  const result = status === undefined ? `no answer (${error ?? 'not posted'})` : `answered with ${status}`;
  return lacks === undefined ? result : `${result}, without ${lacks.join(', ')}`;
}

const signatureStyles = { verified: 'good', refused: 'bad', unchecked: 'wait' } as const;

/** The verdict of `listen`. */
export function SignatureBadge({ signature }: { signature: keyof typeof signatureStyles | undefined }) {
  if (signature === undefined) return null;
  return <span class={`pill ${signatureStyles[signature]}`}>{signature}</span>;
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

export function Faults({ faults }: { faults: readonly string[] }) {
  return faults.map((fault) => (
    <span key={fault} class="pill fault">
      {cut(fault.replaceAll('_', ' '))}
    </span>
  ));
}

const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const time = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hour12: false,
});
const minute = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

export const shownDate = (ms: number) => date.format(ms);
export const shownTime = (ms: number) => time.format(ms);
export const shownMinute = (ms: number) => minute.format(ms);
