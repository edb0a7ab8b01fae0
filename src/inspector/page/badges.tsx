/** How a request or an event went: its HTTP status, or why there is none. */
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

export function Faults({ faults }: { faults: readonly string[] }) {
  return faults.map((fault) => (
    <span key={fault} class="pill fault">
      {fault.replaceAll('_', ' ')}
    </span>
  ));
}
