import { setTimeout as pause } from 'node:timers/promises';
import type { Sandbox } from 'partner-exchange-sdk/sandbox';
import type { Partner } from './partner.ts';
import { engines, numbersOfText, phoneOf } from './plan.ts';

/** What one partner did, counted by the books of the parent. */
export interface Figures {
  orders: number;
  /** The service has them, and reported that they are credited. */
  credited: number;
  codes: number;
  messages: number;
  rotations: number;
  restarts: number;
  /** Credited without an effect; a code or a message that was reported and is not there. */
  lost: number;
  /** Two orders of one id, two effects of one credit, a code that counted twice, two texts to one number. */
  doubled: number;
}

/** What the traffic of a partner is checked against. */
export interface Books {
  readonly sandbox: Sandbox;
  /** By order: how often the effect of its credit happened. */
  readonly effects: ReadonlyMap<string, number>;
}

const betweenOrdersMs = 1_000;
const betweenCodesMs = 2_000;
const everyMs = 60_000;

/** Orders, codes, a text to many numbers, a rotation and a restart each minute, until the signal. Then everything is counted. */
export async function runTraffic(partner: Partner, books: Books, signal: AbortSignal): Promise<Figures> {
  const { engine } = partner;
  const { sandbox, effects } = books;
  const numbers = engines.indexOf(engine) * 3_000_000;
  const figures: Figures = {
    orders: 0,
    credited: 0,
    codes: 0,
    messages: 0,
    rotations: 0,
    restarts: 0,
    lost: 0,
    doubled: 0,
  };
  const newestLink = () => sandbox.emails.findLast((mail) => mail.partner_code === engine)?.link ?? '';
  const opened = new Set([newestLink()]);
  let isRotating = false;
  const underWay = new Set<Promise<unknown>>();
  const failure = Promise.withResolvers<never>();
  /** Not awaited where it starts; a failure ends the run. */
  const begin = (work: Promise<unknown>) => {
    underWay.add(work);
    work.then(() => underWay.delete(work), failure.reject);
  };

  async function buy(id: string): Promise<void> {
    let { state } = await partner.insist('order', { id });
    // Its keys are being replaced, or another process sends it.
    while (state === 'waiting') {
      await pause(500);
      ({ state } = await partner.insist('order', { id }));
    }
    if (state === 'refused') return;
    // A request that was cut off can still reach the service: look there again before the order is given up.
    for (let tries = 0; tries < 100; tries++) {
      const [order] = sandbox.orders.filter((each) => each.partner_order_id === id);
      if (order !== undefined) return void (await sandbox.play(order.platform_order_ref, 'happy'));
      if (state === 'accepted') break;
      const isAbandoned = await partner.ask('abandon', { id }).then(
        () => true,
        () => false,
      );
      if (isAbandoned) return;
      await pause(300);
    }
    figures.lost++;
  }

  async function confirm(number: number): Promise<void> {
    const to_phone = phoneOf(numbers + number);
    // A code that the service refuses is none.
    const issued = await partner.ask('code', { to_phone }).catch(() => undefined);
    if (issued?.delivery !== 'sent') return;
    figures.codes++;
    const sent = sandbox.messages.findLast((each) => each.to_phone === to_phone);
    const check = { id: issued.id, code: sent?.message ?? '' };
    // A person who clicks twice, on two replicas.
    const checked = await Promise.all([partner.insist('check', check), partner.insist('check', check)]);
    const accepted = checked.filter(({ ok }) => ok).length;
    if (accepted === 0) figures.lost++;
    if (accepted > 1) figures.doubled++;
  }

  async function send(minute: number): Promise<void> {
    const name = `${engine} ${minute}`;
    const given = { name, first: numbers + 1_000_000 + minute * numbersOfText };
    // Two replicas send it at once, and one of them may be replaced meanwhile; then one run sees it through.
    await Promise.allSettled([partner.ask('send', given), partner.ask('send', given)]);
    const states = Object.values(await partner.insist('send', given));
    const messages = sandbox.messages.filter(({ message }) => message === name);
    const distinct = new Set(messages.map(({ to_phone }) => to_phone)).size;
    figures.messages += distinct;
    figures.doubled += messages.length - distinct;
    figures.lost += Math.max(0, states.filter((state) => state === 'sent').length - distinct);
    figures.lost += numbersOfText - states.length;
  }

  async function rotate(): Promise<void> {
    if (isRotating) return;
    isRotating = true;
    // The reply may be lost: the mail tells whether there are new keys.
    while (opened.has(newestLink())) {
      await partner.ask('request', {}).catch(() => {});
      await pause(200);
    }
    // A request that was repeated, or that reaches the service late, makes keys once more.
    for (let link = newestLink(); !opened.has(link); link = newestLink()) {
      opened.add(link);
      await partner.insist('receive', { keys: sandbox.openLink(link) });
      await pause(2_000);
    }
    await partner.insist('promote', {});
    figures.rotations++;
    isRotating = false;
  }

  async function repeat(everyMs: number, firstMs: number, work: (number: number) => Promise<unknown>) {
    const begun = performance.now() + firstMs;
    for (let number = 0; ; number++) {
      await pause(Math.max(0, begun + number * everyMs - performance.now()), undefined, { signal });
      begin(work(number));
    }
  }

  // Not all partners at once: a rolling deployment comes a third of a minute after the other.
  const offsetMs = (engines.indexOf(engine) * everyMs) / engines.length;
  const begun = Promise.allSettled([
    repeat(betweenOrdersMs, 0, (number) => {
      figures.orders++;
      return buy(`${engine}-${number}`);
    }),
    repeat(betweenCodesMs, 500, confirm),
    repeat(everyMs, 5_000, send),
    repeat(everyMs, offsetMs + 10_000, rotate),
    repeat(everyMs, offsetMs + 6_000, async () => {
      await partner.replace();
      figures.restarts++;
    }),
  ]);
  await Promise.race([begun, failure.promise]);
  while (underWay.size > 0) await Promise.all(underWay);
  await sandbox.idle();
  while ((await partner.sample()).open > 0) await pause(200);
  countOrders();
  return figures;

  function countOrders(): void {
    const own = sandbox.orders.filter((order) => order.partner_order_id.startsWith(`${engine}-`));
    figures.doubled += own.length - new Set(own.map((order) => order.partner_order_id)).size;
    for (const { partner_order_id: id, state } of own) {
      const times = effects.get(id) ?? 0;
      if (times > 1) figures.doubled++;
      if (state !== 'credited') continue;
      figures.credited++;
      if (times === 0) figures.lost++;
    }
  }
}
