import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isForgery } from '../../src/devtools/sandbox/settings/event-faults.ts';
import type { SandboxDelivery } from '../../src/devtools/sandbox/world/delivery.ts';
import type { TraceEntry } from '../../src/devtools/sandbox/world/trace.ts';
import type { OrderTimeline } from '../../src/events/order-timeline.ts';
import type { DeadLetter } from '../../src/inbox/dead-letters.ts';
import type { JournaledOrder } from '../../src/orders/journaled-order.ts';
import { type Books, isPoison, ordersOf, type Visit } from './books.ts';
import { journalOf, personal, requestsOf } from './order-steps.ts';
import type { PartnerProcess } from './partner-process.ts';
import { contradictions, deviates } from './plan.ts';
import { readLedger, timelineKey } from './receiver.ts';
import { partnerNames, type World } from './world.ts';

/** Compares the books of the service, the journal, the receiver and the phones; what does not agree is a breach. */
export async function checkBooks(world: World): Promise<void> {
  const { books, sandbox, simulation } = world;
  const process = world.pick();
  if (process === undefined) return books.breach('No process lives at the end.');
  noteCommitted(world);
  await checkMismatches(world, process);
  const letters = await deadLetters(world);
  checkDeadLetters(world, letters);
  const setAside = new Set([
    ...letters.map(({ digest }) => digest),
    ...world.broker.dead.map(({ digest }) => digest),
  ]);
  await simulation.within(process.machine, async () => {
    for (const id of books.amounts.keys()) {
      checkOrder(world, id, { known: await journalOf(process, id).get(id), setAside });
      const key = timelineKey(id);
      // Sound: this is what the receiver has set.
      const timeline = (await process.store.transact([key], (records) => records.get(key))) as
        | OrderTimeline
        | undefined;
      checkTimeline(world, id, timeline);
    }
  });
  for (const { partner_order_id: id, fiat_amount = '' } of sandbox.orders)
    if (!books.amounts.has(id)) books.breach(`${id} was ordered by nobody.`);
    else if (books.payloads.get(id)?.has(fiat_amount) !== true)
      books.breach(`${id} was made with ${fiat_amount}.`);
  for (const id of books.misdirected)
    if (requestsOf(world, id) > 0) books.breach(`${id} was sent, though its crypto would be lost.`);
  for (const delivery of sandbox.deliveries) checkDelivery(world, delivery, setAside);
  for (const visits of books.visits.values()) checkVisits(world, visits);
  checkEffects(world);
  await checkKeys(world);
  await checkNothingPersonal(world, letters);
}

/** A process that died with its commit has told nobody that the event is handled. */
function noteCommitted(world: World): void {
  if (world.plan.effects !== 'marked') return;
  for (const digest of readLedger(world).keys()) {
    const visits = world.books.visits.get(digest) ?? [];
    const last = visits.at(-1);
    if (last !== undefined && !visits.some(({ isHandled }) => isHandled)) last.isHandled = true;
  }
}

/** What contradicts an order is found if it came, and nothing else is. */
async function checkMismatches(world: World, process: PartnerProcess): Promise<void> {
  const { books, sandbox, simulation, plan } = world;
  const found = new Map<string, string>();
  const kinds = new Set<string>();
  await simulation.within(process.machine, async () => {
    for (const name of partnerNames)
      for await (const { kind, evidence } of process.partners[name].journal.reconcile({ since: 0 })) {
        kinds.add(kind);
        if (kind !== 'mismatch' && kind !== 'amount_differs') continue;
        for (const { digest } of Object(evidence).events) found.set(digest, kind);
      }
  });
  // Of events in another form nobody can say what they contradict.
  if (plan.isReshaped) return;
  if (kinds.has('hash_used_twice')) books.breach(`Found ${[...kinds].join()}.`);
  const planted = sandbox.deliveries.filter(({ faults }) => faults.some((each) => contradictions.has(each)));
  const ends = planted.filter(({ name, faults }) => {
    // A service need not say more in it than its name.
    if (name === 'event.buy.third_party_error') return false;
    return faults.some((each) => contradictions.has(each) && canDiffer(name, each));
  });
  const digestsOf = (deliveries: readonly SandboxDelivery[]) =>
    new Set(deliveries.map(({ body }) => books.digests.get(body) ?? ''));
  const mayDiffer = digestsOf(planted);
  // A refusal that was none lets the order be replaced, and the service has the first one.
  for (const [digest, kind] of found)
    if (!mayDiffer.has(digest) && (plan.isHonest || kind !== 'amount_differs'))
      books.breach(`Event ${digest.slice(0, 8)} is as ordered, and was found to differ.`);
  for (const digest of digestsOf(ends)) {
    // A person has decided about it.
    if (books.decisions.has(digest)) continue;
    const isSeen = books.compared.has(digest);
    if (isSeen) world.count('an event was not about what was ordered');
    if (isSeen && !found.has(digest))
      books.breach(`Event ${digest.slice(0, 8)} is not about what was ordered, and was not found.`);
  }
}

/** The close event has any chain. */
function canDiffer(name: string, fault: string): boolean {
  return name !== 'buy.event.close' || fault !== 'other_chain';
}

async function deadLetters(world: World): Promise<DeadLetter[]> {
  const process = world.pick();
  if (process === undefined || !('deadLetters' in process.inbox)) return [];
  const { inbox, machine } = process;
  return await world.simulation.within(machine, () => inbox.deadLetters({ limit: 10_000 }));
}

function checkOrder(
  world: World,
  id: string,
  { known, setAside }: { known: JournaledOrder | undefined; setAside: ReadonlySet<string> },
): void {
  const { books, sandbox, plan } = world;
  const breach = (what: string) => books.breach(`${id} (${known?.state}) ${what}`);
  const { length: count } = ordersOf(sandbox, id);
  const { state, attempts = 0 } = known ?? {};
  if (known === undefined) {
    // Its intent was never written: then nothing may have been sent either.
    if (requestsOf(world, id) > 0) breach('was sent, and is not in the journal.');
    return;
  }
  if (known.contradiction !== undefined) world.count('a contradiction was found');
  world.count(`orders ${state}`);
  if (books.handedOver.has(id)) world.count('an order was handed over to a person');
  if (
    (state === 'waiting' || state === 'not-sent' || state === 'prepared') &&
    plan.ordering === 'loop' &&
    !books.handedOver.has(id) &&
    !books.replaced.has(id)
  )
    breach('still waits.');
  if (state === 'refused' && known.status === 429) breach('was ended by a 429.');
  for (const { digest, decision } of known.events ?? [])
    if (decision !== undefined && books.decisions.get(digest)?.has(decision.verdict) !== true)
      breach(`has a decision about event ${digest.slice(0, 8)}, which nobody has seen.`);
  const isTimely = plan.clocks !== 'jumping';
  if (count > 1 && isTimely && !isMisled(world, id)) breach('is there twice at the service.');
  const allowed = attempts + repeatedRequests(world, id);
  if (requestsOf(world, id) > allowed)
    breach(`was sent ${requestsOf(world, id)} times in ${attempts} attempts.`);
  if (state === 'sending' && isTimely) breach('is still being sent, though its lease is over.');
  if (books.evident.has(id) && count === 0) breach('had an event, and is not at the service.');
  if (books.evident.has(id) && state !== 'accepted') breach('had an event, and is not accepted.');
  if (state === 'accepted' && count === 0) breach('is not at the service.');
  if (count > 0 && isTimely && (state === 'prepared' || state === 'not-sent')) breach('is at the service.');
  if (count > 0 && isTimely && state === 'refused' && plan.isHonest) breach('is at the service.');
  if (state === 'refused' && known.status === 429) breach('was refused for good by a rate limit.');
  if (plan.isHonest && isTimely && !plan.isReshaped && known.contradiction !== undefined)
    breach(`contradicts ${known.contradiction}.`);
  const { losesEvents } = plan;
  if (
    !losesEvents &&
    !plan.isReshaped &&
    count > 0 &&
    state !== 'accepted' &&
    !isSetAside(world, id, setAside) &&
    !isUnheard(world, id)
  )
    breach('is at the service, whose events all came.');
}

/** It acted on a request, and said that it wants fewer. */
function isMisled({ plan, sandbox }: World, id: string): boolean {
  if (plan.isHonest) return false;
  return [...sandbox.trace].some(
    ({ kind, operation, order, status }) =>
      kind === 'reply' && operation === 'createOrder' && order === id && status === 429,
  );
}

/** A client repeats what was certainly not acted on: a 429, and what was refused for its keys. */
function repeatedRequests(world: World, id: string): number {
  const refused = [...world.sandbox.trace].filter(
    ({ kind, operation, order, status = 0 }) =>
      kind === 'reply' && operation === 'createOrder' && order === id && [401, 403, 429].includes(status),
  );
  if (refused.some(({ status }) => status !== 429))
    world.count('an order was refused for its keys and sent again');
  return refused.length;
}

/** Whether a person has to look at an event of this order. */
function isSetAside({ books }: World, id: string, setAside: ReadonlySet<string>): boolean {
  return [...books.digests].some(([text, digest]) => setAside.has(digest) && text.includes(`"${id}"`));
}

/** The service has given up each of its events. */
function isUnheard(world: World, id: string): boolean {
  const { books, sandbox } = world;
  const events = sandbox.deliveries.filter((one) => one.partner_order_id === id && !isForgery(one));
  const isLost = (one: SandboxDelivery) =>
    isGivenUp(world, one) && !books.answers.get(one.body)?.includes(200);
  return events.length > 0 && events.every(isLost);
}

/** In memory, an event that kills its process never gets further; nor does one that was signed with keys that are over. */
function isGivenUp(world: World, { attempts, faults }: SandboxDelivery): boolean {
  if (faults.includes('old_key')) return true;
  return attempts >= world.plan.postings && (world.plan.inbox === 'memory' || areKeysOver(world));
}

function checkTimeline(world: World, id: string, timeline: OrderTimeline | undefined): void {
  // Of events in another form only some say of which order they are.
  if (world.plan.isReshaped) return;
  const handled = world.sandbox.deliveries.filter(
    (one) =>
      one.partner_order_id === id &&
      isHandled(world, one) &&
      !isForgery(one) &&
      !one.faults.includes('unfamiliar_name'),
  );
  const seen = new Set<string>(timeline?.seen);
  for (const { name } of handled)
    if (!seen.has(name)) world.books.breach(`${id}: ${name} was handled, and is not in the timeline.`);
}

function checkDelivery(world: World, delivery: SandboxDelivery, setAside: ReadonlySet<string>): void {
  const { books, plan } = world;
  const { id, name, partner_order_id, body, faults } = delivery;
  const digest = books.digests.get(body) ?? '';
  const about = `${id} (${name} of ${partner_order_id}, ${digest.slice(0, 8)})`;
  const isReceived =
    (books.answers.get(body) ?? []).includes(200) ||
    (books.given.get(body) ?? []).some(({ status }) => status === 200);
  if (isForgery(delivery)) {
    if (isReceived) books.breach(`${about} comes from nobody, and was acknowledged.`);
    return;
  }
  // Another spelling of the same event is the same delivery.
  const isKept = setAside.has(digest);
  const isStrange =
    deviates(plan, faults) || faults.includes('unfamiliar_name') || faults.includes('credits_elsewhere');
  // It may differ in what is shown only, and a person may still reject it.
  const isRejected = books.decisions.get(digest)?.has('rejected') === true;
  if (isKept && !isStrange && !isRejected && !isPoison(digest) && !isWorn(world, digest))
    books.breach(`${about} is as documented, and was set aside.`);
  if (
    faults.includes('credits_elsewhere') &&
    canDiffer(name, 'credits_elsewhere') &&
    name !== 'event.buy.third_party_error' &&
    !deviates(plan, faults) &&
    books.compared.has(digest) &&
    books.decisions.get(digest)?.has('accepted') !== true &&
    isHandled(world, delivery)
  )
    books.breach(`${about} credits another address, and was handled.`);
  if (isReceived && faults.includes('old_key')) world.count('a delivery was signed with replaced keys');
  if (
    isReceived &&
    !isKept &&
    !isHandled(world, delivery) &&
    !isIgnored(world, delivery, digest) &&
    !isDiscarded(world, digest, isStrange)
  )
    books.breach(`${about} was acknowledged, and neither handled nor kept.`);
  for (const answer of books.given.get(body) ?? []) {
    const { machine, begun, tookMs } = answer;
    const longestMs = longestAnswerMs + (plan.inbox === 'memory' ? 60_000 : 0);
    const isStalled = books
      .disturbancesOf(machine, { from: begun, until: begun + tookMs })
      .some(({ kind }) => kind === 'stall');
    if (tookMs > longestMs && !isStalled && plan.disturbances.lateTimer === 0)
      books.breach(`${about} was answered after ${answer.tookMs} ms.`);
    if (answer.status === 401 && !faults.includes('old_key') && !areKeysOver(world))
      books.breach(`${about} is authentic, and was answered 401.`);
  }
  if (isReceived || isHandled(world, delivery) || isKept) return;
  // Not posted by itself, or once; and every time that it came, nobody was there, or the keys were not.
  const isOnce = plan.losesEvents && (plan.postings === 1 || faults.includes('drop'));
  if (!isOnce && !isGivenUp(world, delivery)) books.breach(`${about} was never taken.`);
}

/** A time limit of 5 s for keys, and one for each of the calls of a store. */
const longestAnswerMs = 16_000;

/** Keys die after a day where the deployment says so, or when the clock jumps, and nobody waits for keys that were denied. */
function areKeysOver({ plan, sandbox }: World): boolean {
  if (plan.keys !== 'ring') return false;
  const isDenial = ({ kind, operation, status = 0 }: TraceEntry) =>
    kind === 'reply' && operation === 'regenerateKeys' && status >= 300 && status < 500;
  if (!plan.isHonest && [...sandbox.trace].some(isDenial)) return true;
  return plan.clocks === 'jumping' || plan.versions.some(({ overlapMs }) => overlapMs < 86_400_000);
}

/** It failed, or its process was lost, so often that it became a dead letter with good reason. */
function isWorn({ books, plan }: World, digest: string): boolean {
  const least = Math.min(...plan.versions.map(({ maxAttempts }) => maxAttempts));
  const visits = books.visits.get(digest) ?? [];
  const from = books.arrivals.get(digest) ?? Number.POSITIVE_INFINITY;
  // An attempt counts, too, whose process was lost before its handler began, or before its end was stored.
  const lost = books.disturbances.filter(({ kind, about, until }) =>
    about === undefined ? kind !== 'clock-jump' && until >= from : about.includes(digest),
  );
  return visits.length + lost.length >= least;
}

/** Nothing is registered for it in one version, and no process of the other one came in time. */
function isIgnored({ books, plan }: World, { name }: SandboxDelivery, digest: string): boolean {
  // A drawn service may spell the name in another way.
  const isCloseEvent = name.replaceAll(/[\W_]/g, '.').toLowerCase() === 'buy.event.close';
  if (!plan.versions[1].isFormer || !isCloseEvent) return false;
  // A process may die when it has stored that an event is ignored, and before it reports that.
  return books.ignored.has(digest) || books.hasDiedOver(digest);
}

/** A dead letter that was replayed and is one again is listed; a strange one may be handled by name alone. */
function isDiscarded({ plan, books }: World, digest: string, isStrange: boolean): boolean {
  return plan.inbox === 'queue' && isStrange && books.unread.has(digest);
}

function checkDeadLetters(world: World, letters: readonly DeadLetter[]): void {
  const { books, plan } = world;
  const [{ maxAttempts }, other] = plan.versions;
  // In memory each repetition of the service is another attempt.
  if (maxAttempts !== other.maxAttempts || plan.inbox === 'memory') return;
  for (const { digest, attempts } of letters) {
    const visits = books.visits.get(digest) ?? [];
    if (!isPoison(digest) || books.replayed.has(digest)) continue;
    if (books.unread.has(digest) || books.mismatched.has(digest)) continue;
    // A lease whose answer was lost is an attempt, and no handler began.
    if (books.disturbances.some(({ kind, about }) => kind === 'fault' && about?.includes(digest))) continue;
    const isQuiet = visits.every(({ machine, leasedFrom: from, until = from + 60_000, isStopped }, index) => {
      // Its lease was over, which is no attempt.
      if ((visits[index + 1]?.from ?? until) < until) return false;
      const disturbances = books.disturbancesOf(machine, { from, until: until + 1_000, digest });
      return isStopped || (machine.diedAt > until && disturbances.length === 0);
    });
    // A stop is no attempt.
    const { length: ran } = visits.filter(({ isStopped }) => !isStopped);
    if (isQuiet && ran > 0 && (attempts !== maxAttempts || ran !== maxAttempts))
      books.breach(
        `Dead letter ${digest.slice(0, 8)} says ${attempts} attempts, ran ${ran} times, and may run ${maxAttempts} times.`,
      );
  }
}

/** None is handled again without a reason that the pages name, and none twice at once. */
function checkVisits(world: World, visits: readonly Visit[]): void {
  const { books } = world;
  for (const [index, visit] of visits.entries()) {
    const next = visits[index + 1];
    if (next === undefined) continue;
    const isAtOnce = next.from < (visit.until ?? Number.POSITIVE_INFINITY);
    if (!visit.isHandled && !isAtOnce) continue;
    const digest = visit.digest.slice(0, 8);
    if (mayFollow(world, visit, next)) world.count('a delivery was handled again for a reason');
    else if (visit.isHandled) books.breach(`Event ${digest} was handled again without a reason.`);
    else books.breach(`Event ${digest} was handled twice at once.`);
  }
}

/** From the call of a store until its change is made; SQLite waits that long for others. */
const longestAskMs = 6_000;

/** Of two clocks, as far apart as the plan allows. */
const clockSlackMs = { true: 3_500, skewed: 61_000, jumping: Number.POSITIVE_INFINITY };

/** Whether a delivery may be handled again after a visit that did its work, or that still runs. */
function mayFollow({ books, plan }: World, visit: Visit, next: Visit): boolean {
  const { digest, machine, from } = visit;
  // A person has asked for it.
  if (books.replayed.get(digest)?.some((at) => at >= from && at <= next.from)) return true;
  // Its process stalled when it had looked at its lease for the last time.
  if (visit.isBlind || next.isBlind) return true;
  // Memory ends with its process.
  if (plan.inbox === 'memory')
    return plan.clocks === 'jumping' || Math.min(visit.abortedAt, machine.diedAt) <= next.from;
  const isRemembered = plan.clocks !== 'jumping' && !isEndLost(books, visit);
  if (isRemembered && visit.settledAt <= next.leasedFrom) return false;
  // It slept with its lease, which is not over by its own clock, and was by that of the process that took it over.
  const leaseMs = next.timeLimitMs - clockSlackMs.skewed;
  if (
    plan.clocks === 'skewed' &&
    next.leasedFrom < visit.leasedFrom &&
    visit.leasedFrom >= next.leasedFrom + leaseMs
  )
    return next.from < next.leasedFrom + next.timeLimitMs + longestAskMs;
  // A stop, or its time limit, has given it back; its process died; its lease was over.
  if (visit.abortedAt <= next.from || machine.diedAt <= next.from) return true;
  // A process that has slept since it asked for its lease has to look whether that is over, and begins nothing then.
  const isAskedAtOnce =
    plan.inbox !== 'sqlite' &&
    books.disturbancesOf(next.machine, { from: next.leasedFrom - longestAskMs, until: next.from, digest })
      .length === 0;
  const nextLeasedBy = isAskedAtOnce
    ? next.leasedFrom + 100
    : Math.min(next.from, next.leasedFrom + longestAskMs);
  return nextLeasedBy >= visit.leasedFrom + visit.timeLimitMs - clockSlackMs[plan.clocks];
}

/** A queue drops a message that was handled; whether the store has its end decides on a second message of it. */
function isEndLost(books: Books, { digest, machine, until = 0, settledAt }: Visit): boolean {
  return books.disturbancesOf(machine, { from: until, until: settledAt, digest }).length > 0;
}

function isHandled({ books }: World, { body }: SandboxDelivery): boolean {
  const visits = books.visits.get(books.digests.get(body) ?? '') ?? [];
  return visits.some((visit) => visit.isHandled);
}

/** An effect elsewhere happens at most once, and one in the transaction of its event exactly once. */
function checkEffects(world: World): void {
  const { books, plan } = world;
  for (const [key, count] of books.mails)
    if (count > 1) books.breach(`The mail of ${key} was sent ${count} times.`);
  for (const key of books.mailed) if (!books.mails.has(key)) books.breach(`The mail of ${key} was not sent.`);
  if (plan.effects !== 'marked') return;
  const ledger = readLedger(world);
  // A clock that jumped by a day has forgotten the digest.
  for (const [digest, entries] of ledger)
    if (entries > 1 && plan.clocks !== 'jumping')
      books.breach(`Event ${digest.slice(0, 8)} is in the ledger ${entries} times.`);
  for (const [digest, visits] of books.visits)
    if (visits.some(({ settledAt }) => settledAt < Number.POSITIVE_INFINITY) && !ledger.has(digest))
      books.breach(`Event ${digest.slice(0, 8)} was handled, and is not in the ledger.`);
}

/** No key is lost that the rotation has acknowledged, and the newest ones sign. */
async function checkKeys(world: World): Promise<void> {
  const { plan, books, simulation } = world;
  const process = world.pick();
  if (plan.keys !== 'ring' || process === undefined) return;
  const { rotation } = process.partners.a;
  const { signing, pending, verifying } = await simulation.within(process.machine, () =>
    rotation.credentials(),
  );
  const newest = [...books.receivedKeys].at(-1);
  const last = plan.promotes ? signing : (pending ?? signing);
  if (newest !== undefined && last.partnerPublicKey !== newest)
    books.breach('The newest keys neither sign nor wait to be promoted.');
  if (plan.clocks === 'jumping' || plan.versions.some(({ overlapMs }) => overlapMs < 86_400_000)) return;
  for (const key of books.receivedKeys)
    if (!verifying.some(({ partnerPublicKey }) => partnerPublicKey === key)) books.breach('Keys were lost.');
}

/** Once everything is handled and the dead letters are gone, nothing of the buyers is left. */
async function checkNothingPersonal(world: World, letters: readonly DeadLetter[]): Promise<void> {
  const { books, simulation, plan, folder } = world;
  const process = world.pick();
  if (process === undefined) return;
  const { inbox, machine } = process;
  if ('discard' in inbox)
    await simulation.within(machine, async () => {
      for (const { digest } of letters) await inbox.discard(digest);
    });
  for (const one of world.alive()) await one.stop(1_000);
  const texts: string[] = [];
  if (plan.inbox === 'sqlite')
    for (const file of readdirSync(folder)) texts.push(readFileSync(join(folder, file), 'latin1'));
  else {
    for (let after = ''; ; ) {
      const page = await world.storeServer.records.list({ prefix: '', after, limit: 1_000 });
      texts.push(JSON.stringify(page));
      if (page.length < 1_000) break;
      after = page.at(-1)?.key ?? '';
    }
  }
  // What waits for its keys is kept as it came.
  const isKept = texts.some((text) => text.includes('unverified/body/'));
  const found = isKept
    ? undefined
    : Object.entries(personal).find(([, mark]) => texts.some((text) => text.includes(mark)));
  if (found !== undefined) books.breach(`The ${found[0]} of a buyer is still stored.`);
}
