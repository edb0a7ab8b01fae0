import { createHash } from 'node:crypto';
import type { Delivery, ManagedInbox } from '../../src/inbox/inbox.ts';
import { type Estimate, estimate, measureInTurns, median, type Timings } from './measure.ts';
import type { Finding } from './report.ts';
import { sampleText } from './sample-event.ts';

/** Does its work for this many new deliveries, and resolves with the milliseconds that count. */
export type TimedWork = (deliveries: readonly Delivery[]) => Promise<number>;

let made = 0;

/** As `measureInTurns`, with so many new deliveries for each turn. */
export function timeDeliveriesInTurns<Name extends string>(
  contenders: Readonly<Record<Name, TimedWork>>,
  { count, ...sampling }: { readonly count: number; readonly warmup: number; readonly rounds: number },
): Promise<Timings<Name>> {
  const works = Object.entries<TimedWork>(contenders);
  const turns = works.map(([name, work]) => [name, () => work(makeDeliveries(count))] as const);
  // Sound: it has the names of the contenders.
  return measureInTurns(Object.fromEntries(turns) as Record<Name, () => Promise<number>>, sampling);
}

/** Gives each delivery to `one`, with so many under way at a time. */
export async function eachOf(
  deliveries: readonly Delivery[],
  inFlight: number,
  one: (delivery: Delivery) => Promise<unknown>,
): Promise<number> {
  const begun = performance.now();
  const left = deliveries.values();
  const takeTurns = async () => {
    for (const delivery of left) await one(delivery);
  };
  await Promise.all(Array.from({ length: inFlight }, takeTurns));
  return performance.now() - begun;
}

/** Has an inbox store a delivery that is new. */
export async function storeNew(inbox: ManagedInbox, delivery: Delivery): Promise<void> {
  const result = await inbox.receive(delivery, async () => 'handled');
  if (result !== 'stored') throw new Error(`A new delivery was answered ${result}.`);
}

export function perSecond(what: string, times: readonly number[], count: number): Finding {
  return { what, measured: (count / median(times)) * 1000, unit: '/s' };
}

/** The work done in the time that the other one needs for its own, in the same round, in %. */
export function shareOf(own: readonly number[], other: readonly number[]): Estimate {
  return estimate(own.map((ms, round) => ((other[round] ?? Number.NaN) / ms) * 100));
}

export function makeDeliveries(count: number): Delivery[] {
  return Array.from({ length: count }, () => ({
    digest: createHash('sha256').update(String(made++)).digest('hex'),
    name: 'event.buy.credited.crypto',
    key: { index: 0 },
    body: sampleText,
  }));
}
