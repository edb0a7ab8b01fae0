import type { PartnerCredentials } from '../../../credentials/partner-credentials.ts';
import { type AssumptionId, assumptions } from '../../../deployment/assumptions.ts';
import type { Deployment } from '../../../deployment/define-deployment.ts';
import { orderIdDigest } from '../../../deployment/reply-shape.ts';
import { effectKey } from '../../../events/effect-key.ts';
import { orderEventNames } from '../../../events/event-names.ts';
import type { OrderEvent } from '../../../events/order-event.ts';
import type { ParsedOrderEvent } from '../../../events/parse-order-event.ts';
import { hash } from '../../../internal/hash.ts';
import type { JsonObject } from '../../../internal/json.ts';
import { readCapturedReply } from './captured-reply.ts';
import { type Disorder, readGenuineEvent } from './event-evidence.ts';
import { newTally, note, type RowObservation, type RowSample, type RowTally } from './evidence.ts';
import type { createOrderLog } from './order-log.ts';
import { rowJudges } from './rows.ts';
import { createSchemeFinder } from './scheme-finder.ts';
import { createStrayLog } from './strays.ts';

/** A delivery that was kept, such as a file of `listen --save`. */
export interface CapturedDelivery {
  /** The raw body, as it was posted. */
  readonly body: string | Uint8Array;
  /** The headers: pairs, a `Headers` or a `Map`. */
  readonly headers?: Iterable<readonly [string, string]> | undefined;
  /** When it came, in ISO 8601. */
  readonly receivedAt?: string | undefined;
}

/** The tallies of all rows. */
export function createEvidence() {
  const tallies = new Map<AssumptionId, RowTally>(assumptions.map(({ id }) => [id, newTally()]));
  return {
    noteEach(
      sample: RowSample,
      observe: (judge: (typeof rowJudges)[AssumptionId]) => RowObservation | undefined,
    ): void {
      for (const [id, tally] of tallies) {
        const observed = observe(rowJudges[id]);
        if (observed !== undefined) note(tally, observed, sample);
      }
    },
    tallyOf: (id: AssumptionId) => tallies.get(id) ?? newTally(),
  };
}

interface Notes {
  readonly evidence: ReturnType<typeof createEvidence>;
  readonly orders: ReturnType<typeof createOrderLog>;
}

export async function readReplies(
  replies: Iterable<unknown> | AsyncIterable<unknown>,
  { evidence, orders, deployment }: Notes & { readonly deployment: Deployment<unknown> },
): Promise<{ readonly read: number; readonly others: number }> {
  let read = 0;
  let others = 0;
  for await (const given of replies) {
    const reply = readCapturedReply(given);
    if (reply === undefined) {
      others++;
      continue;
    }
    read++;
    const sample = { digest: hash('sha256', JSON.stringify(reply), 'hex'), since: reply.at };
    evidence.noteEach(sample, (judge) => ('call' in judge ? judge.call(reply, deployment) : undefined));
    orders.noteReply(reply);
  }
  return { read, others };
}

export async function readEvents(
  deliveries: Iterable<CapturedDelivery> | AsyncIterable<CapturedDelivery>,
  {
    evidence,
    orders,
    sets,
    deployment: { wireNames, eventStatuses, signature },
  }: Notes & { readonly sets: readonly PartnerCredentials[]; readonly deployment: Deployment<unknown> },
) {
  const finder = createSchemeFinder(sets, signature);
  const signed = newTally();
  const memory = createMemory();
  const strays = createStrayLog();
  let genuine = 0;
  let until: string | undefined;
  const considered = lookAhead(deliveries, (body) => finder.consider(body));
  for await (const { body, headers, receivedAt: since } of considered) {
    const read = isBody(body) ? finder.read(body) : undefined;
    if (read === undefined) {
      strays.note(body);
      continue;
    }
    genuine++;
    until = since ?? until;
    const sample = { digest: hash('sha256', body, 'hex'), since };
    const disorderOf = (parsed: ParsedOrderEvent) => memory.disorderOf(sample.digest, read.value, parsed);
    const event = readGenuineEvent(read, { headers, wireNames, eventStatuses, disorderOf });
    const { disorder } = event;
    if (disorder !== 'twice') note(signed, { speaks: 'for', found: '' }, sample);
    noteOrderEvent(orders, event.body);
    evidence.noteEach(sample, (judge) =>
      'event' in judge && (disorder !== 'twice' || judge.takesRepeated) ? judge.event(event) : undefined,
    );
  }
  return { schemes: finder.schemes, signed, strays, genuine, until };
}

/** Enough that the original of a copy is among them. */
const maxHeld = 100;
const maxHeldBytes = 4_194_304;

/** The first deliveries are all considered before one of them is read: a copy may come before its original. */
async function* lookAhead(
  deliveries: Iterable<CapturedDelivery> | AsyncIterable<CapturedDelivery>,
  consider: (body: string | Uint8Array) => void,
): AsyncGenerator<CapturedDelivery> {
  const held: CapturedDelivery[] = [];
  let [count, bytes] = [0, 0];
  for await (const delivery of deliveries) {
    if (isBody(delivery.body)) {
      consider(delivery.body);
      bytes += delivery.body.length;
    }
    held.push(delivery);
    if (++count >= maxHeld || bytes >= maxHeldBytes) yield* held.splice(0);
  }
  yield* held;
}

function noteOrderEvent(orders: Notes['orders'], body: JsonObject): void {
  const { partner_order_id: order, platform_order_ref: reference } = body;
  if (typeof order !== 'string') return;
  const isReferred = typeof reference === 'string';
  orders.noteEvent(orderIdDigest(order), isReferred ? hash('sha256', reference, 'hex') : undefined);
}

const maxRemembered = 10_000;

/** Remembers the last deliveries, orders and events by their digests, a bounded number of each. */
function createMemory() {
  const digests = createBoundedSet();
  const begun = createBoundedSet();
  const steps = createBoundedSet();
  return {
    disorderOf(digest: string, body: JsonObject, parsed: ParsedOrderEvent): Disorder | undefined {
      if (digests.add(digest)) return 'twice';
      const step = parsed.kind === 'known' ? stepOf(parsed.event) : undefined;
      if (step !== undefined && steps.add(step)) return 'again';
      const { partner_order_id: order, event_name: name } = body;
      if (typeof order !== 'string') return undefined;
      const id = hash('sha256', order, 'hex');
      if (name === orderEventNames[0]) return begun.has(id) ? 'out of order' : undefined;
      begun.add(id);
      return undefined;
    },
  };
}

/** A second order with the same id has another reference. */
function stepOf(event: OrderEvent): string | undefined {
  const key = effectKey(event);
  return key && hash('sha256', `${key} ${event.platform_order_ref}`, 'hex');
}

function createBoundedSet() {
  const texts = new Set<string>();
  return {
    has: (text: string) => texts.has(text),
    /** Says whether it was there. */
    add(text: string): boolean {
      if (texts.has(text)) return true;
      texts.add(text);
      const [oldest] = texts;
      if (texts.size > maxRemembered && oldest !== undefined) texts.delete(oldest);
      return false;
    },
  };
}

function isBody(body: unknown): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}
