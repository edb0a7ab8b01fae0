import { parseOrderEvent } from '../../src/events/parse-order-event.ts';
import type { Played } from './play-service.ts';
import type { Receiver } from './shims/registry.ts';

/** What became of the events of all drawn services at one receiver. */
export interface Verdicts {
  readonly program: string;
  readonly kind: Receiver['kind'];
  readonly counts: Readonly<Record<Verdict, number>>;
  /** What the receiver must not do, with the seed of the service. */
  readonly breaches: readonly string[];
}

/** `ignored`: a documented event for which nobody registered, without an inbox. `other`: a refusal with 4xx, or none. */
type Verdict = 'handled' | 'kept' | 'refused' | 'ignored' | 'lost' | 'other';

/** Handlers of `onUnrecognized` that keep the event themselves before they return. */
const keepsUnrecognized: readonly string[] = [];

export async function judge(receiver: Receiver, played: readonly Played[]): Promise<Verdicts> {
  const { program, kind } = receiver;
  const own = played.filter(({ answers }) => answers.get(receiver)?.some(isSuccess));
  const { open, dead } = await receiver.settle(
    own.flatMap(({ text }) => (mayWait(text) ? [] : [signatureOf(text)])),
  );
  const handled = new Set(
    receiver.handled
      .filter(({ method }) => method !== 'onUnrecognized' || keepsUnrecognized.includes(program))
      .map(({ signature }) => signature),
  );
  const counts = { handled: 0, kept: 0, refused: 0, ignored: 0, lost: 0, other: 0 };
  const breaches: string[] = [];
  const setAside = new Set(dead);
  const waiting = new Set<string>();
  for (const event of played) {
    if (!event.answers.has(receiver)) continue;
    const verdict = verdictOf(event);
    counts[verdict] += 1;
    if (verdict !== 'lost' && verdict !== 'other') continue;
    const { seed, name, text } = event;
    const answers = event.answers.get(receiver) ?? [];
    breaches.push(
      `${program}: seed ${seed}: ${verdict} ${name}, answered ${answers.join()}: ${text.slice(0, 300)}`,
    );
  }
  return { program, kind, counts, breaches };

  function verdictOf({ text, answers: ofAll }: Played): Verdict {
    const answers = ofAll.get(receiver) ?? [];
    const signature = signatureOf(text);
    if (handled.has(signature)) return 'handled';
    if (setAside.has(signature)) return 'kept';
    if (!answers.some(isSuccess)) {
      return answers.every((status) => status >= 500) ? 'refused' : 'other';
    }
    // An inbox does not say which deliveries are open, only how many. The same text twice is one of them.
    if (mayWait(text) && (waiting.has(signature) || waiting.size < open)) {
      waiting.add(signature);
      return 'kept';
    }
    return kind === 'none' && isIgnorable(text) ? 'ignored' : 'lost';
  }

  /** What a worker may not ignore must not wait: it would be ignored when it is old enough. */
  function mayWait(text: string): boolean {
    return receiver.names.length === 0 || isIgnorable(text);
  }

  /** Documented, read, and of no interest to this program; or muted by it in so many words. */
  function isIgnorable(text: string): boolean {
    // The text shows members that stand in it twice.
    const parsed = parseOrderEvent(JSON.parse(text), { text });
    if (parsed.kind === 'unknown') return receiver.ignoresOthers;
    return (
      parsed.kind === 'known' &&
      !receiver.names.some((name) => name === '*' || name === parsed.event.event_name)
    );
  }
}

function signatureOf(text: string): string {
  // Sound: the sandbox wrote an object.
  return String((JSON.parse(text) as { readonly signature?: unknown }).signature);
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
