import type { OrderTimeline } from '../../src/events/order-timeline.ts';
import type { JournaledOrder } from '../../src/orders/journaled-order.ts';
import type { SandboxDelivery } from '../../src/sandbox/events/delivery.ts';
import { ordersOf } from './books.ts';
import { otpSettings } from './code-steps.ts';
import { requestsOf } from './order-steps.ts';
import { timelineKey } from './partner-process.ts';
import { deviates } from './plan.ts';
import { pickProcess, type World } from './world.ts';

/** Compares the books of the service, the journal, the receiver and the phones; what does not agree is a breach. */
export async function checkBooks(world: World): Promise<void> {
  const { books, processes } = world;
  for (const id of books.amounts.keys()) {
    const known = await pickProcess(world).journal.get(id);
    checkOrder(world, id, known);
    await checkTimeline(world, id);
  }
  const strangers = world.sandbox.orders.filter(
    ({ partner_order_id }) => !books.amounts.has(partner_order_id),
  );
  for (const { partner_order_id } of strangers) books.breach(`${partner_order_id} was ordered by nobody.`);
  const letters = await Promise.all(processes.map(({ inbox }) => inbox.deadLetters({ limit: 10_000 })));
  const setAside = new Set(letters.flat().map(({ digest }) => digest));
  for (const delivery of world.sandbox.deliveries) checkDelivery(world, delivery, setAside);
  for (const [digest, count] of books.handled)
    if (count > 1 && !books.interrupted.has(digest))
      books.breach(`Event ${digest} was handled ${count} times.`);
  const counts = await Promise.all(processes.map(({ inbox }) => inbox.counts()));
  if (counts.some(({ open }) => open > 0)) books.breach('Deliveries are left in the inbox.');
  if (world.plan.isHonest) checkMessages(world);
}

function checkOrder(world: World, id: string, known: JournaledOrder | undefined): void {
  const { books, sandbox, plan } = world;
  const breach = (what: string) => books.breach(`${id} (${known?.state}) ${what}`);
  const { length: count } = ordersOf(sandbox, id);
  const { state, attempts = 0 } = known ?? {};
  if (known === undefined) {
    breach('is not in the journal.');
    return;
  }
  if (count > 1) breach('is there twice at the service.');
  if (requestsOf(world, id) > attempts + keyRefusalsOf(world, id))
    breach(`was sent ${requestsOf(world, id)} times in ${attempts} attempts.`);
  if (state === 'sending') breach('is still being sent, though its lease is over.');
  if (books.evident.has(id) && count === 0) breach('had an event, and is not at the service.');
  if (books.evident.has(id) && state !== 'accepted') breach('had an event, and is not accepted.');
  if (state === 'accepted' && count === 0) breach('is not at the service.');
  if (count > 0 && (state === 'prepared' || state === 'not-sent')) breach('is at the service.');
  if (count > 0 && state === 'refused' && plan.isHonest) breach('is at the service.');
  if (state === 'unknown' && !plan.isVague && vagueFaultsOf(world, id) === 0)
    breach('is unknown, and no fault explains it.');
  if (plan.isHonest && !plan.isReshaped && known.contradiction !== undefined)
    breach(`contradicts ${known.contradiction}.`);
  const { losesEvents } = plan;
  if (!losesEvents && !plan.isReshaped && count > 0 && state !== 'accepted')
    breach('is at the service, whose events all came.');
}

async function checkTimeline(world: World, id: string): Promise<void> {
  const { books, sandbox } = world;
  const { store } = pickProcess(world);
  const key = timelineKey(id);
  // Sound: this is what the receiver has set.
  const timeline = (await store.transact([key], (records) => records.get(key))) as OrderTimeline | undefined;
  const taken = sandbox.deliveries.filter(
    (one) => one.partner_order_id === id && isTaken(world, one) && !isAttack(one) && !isUnfamiliar(one),
  );
  const expected = [...new Set(taken.map(({ name }) => name))].sort().join();
  const found = [...(timeline?.seen ?? [])].sort().join();
  // Of events in another form only some say of which order they are.
  if (found !== expected && !world.plan.isReshaped)
    books.breach(`${id}: the timeline has ${found}, and ${expected} were taken.`);
}

function checkDelivery(world: World, delivery: SandboxDelivery, setAside: ReadonlySet<string>): void {
  const { books, plan } = world;
  const { id, name, partner_order_id, body, faults } = delivery;
  const about = `${id} (${name} of ${partner_order_id})`;
  const isReceived = isAcknowledged(world, delivery);
  if (isAttack(delivery)) {
    if (isReceived) books.breach(`${about} comes from nobody, and was acknowledged.`);
    return;
  }
  // Another spelling of the same event is the same delivery.
  const isKept = setAside.has(books.digests.get(body) ?? '');
  if (isKept && !deviates(plan, faults) && !isUnfamiliar(delivery))
    books.breach(`${about} is as documented, and was set aside.`);
  if (isReceived && !isKept && timesHandled(world, delivery) === 0)
    books.breach(`${about} was acknowledged, and neither handled nor kept.`);
  if (isTaken(world, delivery)) return;
  // Not posted by itself, or once; and every time that it came, nobody was there, or the keys were not.
  const isOnce = plan.losesEvents && (plan.postings === 1 || faults.includes('drop'));
  if (!isOnce || !(books.answers.get(body) ?? []).every(isPassing)) books.breach(`${about} was never taken.`);
}

function isPassing(status: number): boolean {
  return status === 0 || status === 503 || status === 401;
}

function isAcknowledged({ books }: World, { body }: SandboxDelivery): boolean {
  return (books.answers.get(body) ?? []).includes(200);
}

/** Acknowledged, or stored by a process that died before it could say so. */
function isTaken(world: World, delivery: SandboxDelivery): boolean {
  return isAcknowledged(world, delivery) || timesHandled(world, delivery) > 0;
}

function timesHandled({ books }: World, { body }: SandboxDelivery): number {
  return books.handled.get(books.digests.get(body) ?? '') ?? 0;
}

function isAttack({ faults }: SandboxDelivery): boolean {
  return faults.includes('forged') || faults.includes('tampered');
}

function isUnfamiliar({ faults }: SandboxDelivery): boolean {
  return faults.includes('unfamiliar_name');
}

/** Limits of what a phone gets, where a refusal means that nothing was sent. */
function checkMessages({ sandbox, books }: World): void {
  for (const phone of new Set(sandbox.messages.map(({ to_phone }) => to_phone))) {
    const times = sandbox.messages.filter(({ to_phone }) => to_phone === phone).map(({ sentAt }) => sentAt);
    const { max, windowMs } = otpSettings.limits.phone;
    const tooMany = times.some(
      (at, index) => (times[index + max] ?? Number.POSITIVE_INFINITY) < at + windowMs,
    );
    if (tooMany) books.breach(`${phone} got more messages than limits.phone.`);
  }
}

/** Faults that leave it open whether the service has acted, and deaths of the process that sent it. */
function vagueFaultsOf({ sandbox, books }: World, id: string): number {
  const faults = [...sandbox.trace].filter(
    ({ kind, operation, order }) => kind === 'fault' && operation === 'createOrder' && order === id,
  );
  return faults.filter(({ faults: [kind = ''] }) => !clear.has(kind)).length + (books.deaths.get(id) ?? 0);
}

const clear: ReadonlySet<string> = new Set(['too_many_requests', 'redirect', 'misdirected']);

/** A client with a key ring sends what was refused for its keys once more. */
function keyRefusalsOf({ sandbox }: World, id: string): number {
  return [...sandbox.trace].filter(
    ({ kind, operation, order, status = 0 }) =>
      kind === 'reply' && operation === 'createOrder' && order === id && (status === 401 || status === 403),
  ).length;
}
