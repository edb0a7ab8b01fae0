/** The HTTP status of a request or an event, or why it has none. */
export function Status({
  status,
  isAnswered,
  note,
}: {
  status: number | undefined;
  isAnswered: boolean;
  note?: string | undefined;
}) {
  if (!isAnswered) return <span class="pill wait">waiting</span>;
  if (status === undefined) return <span class="pill bad">{note ?? 'no reply'}</span>;
  return <span class={`pill ${status < 300 ? 'good' : status < 400 ? 'wait' : 'bad'}`}>{status}</span>;
}

const signatureStyles = { verified: 'good', refused: 'bad', unchecked: 'wait' } as const;

/** The verdict of `listen`. */
export function SignatureBadge({ signature }: { signature: keyof typeof signatureStyles | undefined }) {
  if (signature === undefined) return null;
  return <span class={`pill ${signatureStyles[signature]}`}>{signature}</span>;
}

export function Faults({ faults }: { faults: readonly string[] }) {
  return faults.map((fault) => (
    <span key={fault} class="pill fault">
      {fault.replaceAll('_', ' ')}
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
