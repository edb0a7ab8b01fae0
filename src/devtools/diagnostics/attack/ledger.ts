import { isAccepted, type PostAnswer } from '../post-request.ts';
import type { CaseResult } from './case-result.ts';
import { causeTable } from './causes.ts';
import type { Effects } from './effect-records.ts';
import { objectOf, type ProbeRequest, type Probes } from './probes.ts';

/** One event that was sent, and its answer. */
export interface LedgerEntry {
  readonly orderId: string;
  readonly name: string;
  /** What an effect of the order is guarded by: equal for all texts of one event. */
  readonly step: string;
  /** A sound receiver may leave its effect out. */
  readonly isOptional: boolean;
  readonly isAuthentic: boolean;
  readonly answer: PostAnswer;
}

/** The event of a request; `undefined` without an order id. */
export function entryOf(
  probes: Probes,
  { body, effect }: ProbeRequest,
  answer: PostAnswer,
): LedgerEntry | undefined {
  const { partner_order_id: orderId, event_name } = objectOf(body) ?? {};
  if (typeof orderId !== 'string') return undefined;
  const name = String(event_name);
  const step = effect === 'separate' ? String(body) : name;
  return {
    orderId,
    name,
    step,
    isOptional: effect !== undefined,
    isAuthentic: probes.verifies(body),
    answer,
  };
}

/** How often a sound receiver acts on the order of these entries. */
interface Bounds {
  readonly least: number;
  readonly most: number;
}

export function boundsOf(entries: readonly LedgerEntry[], handles: readonly string[]): Bounds {
  const authentic = entries.filter(({ isAuthentic }) => isAuthentic);
  const due = authentic.filter((entry) => isDue(entry, handles));
  // One without an answer, or with another one than a refusal, may have been acted on.
  const possible = authentic.filter(({ answer }) => !isRefusal(answer));
  return { least: countSteps(due), most: countSteps(possible) };
}

/** Whether the event was acknowledged and must have an effect. */
function isDue({ answer, name, isOptional }: LedgerEntry, handles: readonly string[]): boolean {
  return isAccepted(answer) && !isOptional && handles.includes(name);
}

function countSteps(entries: readonly LedgerEntry[]): number {
  return new Set(entries.map(({ step }) => step)).size;
}

export function isRefusal(answer: PostAnswer): boolean {
  return answer.kind === 'answered' && answer.status >= 400 && answer.status < 500;
}

/** The result of a case that sent these, if their effects on the given order are wrong. */
export type OrderWatch = (own: readonly LedgerEntry[]) => Promise<CaseResult | undefined>;

/** Watches the order of all cases, which may have had effects before. The case with which they grow is to blame. */
export function watchOrder(
  id: string | undefined,
  { handled, handles }: { handled: Effects | undefined; handles: readonly string[] },
): OrderWatch {
  const entries: LedgerEntry[] = [];
  let [before, excess]: [number | undefined, number] = [undefined, 0];
  return async (all) => {
    if (id === undefined || handled === undefined || !handled.isKnown()) return undefined;
    const own = all.filter(({ orderId }) => orderId === id);
    entries.push(...own.filter(({ isAuthentic }) => isAuthentic));
    const { least, most } = boundsOf(entries, handles);
    const count = (await handled.awaited(new Map([[id, least]]))).get(id) ?? 0;
    before ??= count;
    if (own.length === 0) return undefined;
    if (count < least) return judgeEffects(own, handles, 0);
    const more = count - Math.max(before, most) - excess;
    if (more <= 0) return undefined;
    excess += more;
    return judgeEffects(own, handles, boundsOf(own, handles).most + more);
  };
}

/** What is wrong with the effects of one order; `undefined` if nothing is. */
export function judgeEffects(
  entries: readonly LedgerEntry[],
  handles: readonly string[],
  count: number,
): CaseResult | undefined {
  const { least, most } = boundsOf(entries, handles);
  const answers = [...new Set(entries.map(({ answer }) => statusText(answer)))].join(', ');
  const broken = { verdict: 'broken', answered: `${answers}, and acted on ${times(count)}` } as const;
  if (count > most) return { ...broken, ...excess(entries, most) };
  return count < least ? { ...broken, ...shortfall(entries, handles) } : undefined;
}

type Fault = Pick<CaseResult, 'problem' | 'fault' | 'advice'>;

function excess(entries: readonly LedgerEntry[], most: number): Fault {
  if (entries.some(({ isAuthentic }) => !isAuthentic)) {
    const isAnyAccepted = entries.some(({ isAuthentic, answer }) => !isAuthentic && isAccepted(answer));
    return {
      problem: isAnyAccepted ? 'accepted' : 'acted',
      fault: isAnyAccepted ? 'acts on forgeries' : 'acts before it verifies',
      advice: causeTable['acted-before-verification'].advice,
    };
  }
  if (most === 0) {
    const advice = 'Decide first, then act: an event that was answered with 4xx must have no effect.';
    return { problem: 'acted', fault: 'acts on an authentic event that it refuses', advice };
  }
  const failed = entries.find(isUnsettled);
  const { advice } = causeTable['acts-then-fails'];
  return failed === undefined
    ? { problem: 'repeated', fault: 'acts more than once on one event', advice }
    : {
        problem: 'retried',
        fault: `acts again on an event whose first answer was ${statusText(failed.answer)}`,
        advice,
      };
}

function shortfall(entries: readonly LedgerEntry[], handles: readonly string[]): Fault {
  const failed = entries.find(
    (entry, index) =>
      isUnsettled(entry) &&
      entries.slice(index).some((later) => later.step === entry.step && isDue(later, handles)),
  );
  if (failed === undefined) return { problem: 'dropped', advice: keep };
  return {
    problem: 'forgotten',
    fault: `takes the repetition of an event for handled, whose first answer was ${statusText(failed.answer)}`,
    advice: causeTable['remembers-before-acting'].advice,
  };
}

const keep =
  'Answer 2xx only after the effect, or after the event is stored where a worker or a person finds it; answer 5xx where neither is possible. If it is kept where your count of effects does not look (a dead letter), count that too.';

/** Its sender repeats it. */
function isUnsettled({ answer, isAuthentic }: LedgerEntry): boolean {
  return isAuthentic && !isAccepted(answer) && !isRefusal(answer);
}

function statusText(answer: PostAnswer): string {
  return answer.kind === 'answered' ? String(answer.status) : 'none';
}

function times(count: number): string {
  return count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`;
}
