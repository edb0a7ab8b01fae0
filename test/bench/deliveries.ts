import { createHash } from 'node:crypto';
import type { Delivery, ManagedInbox } from '../../src/inbox/inbox.ts';
import type { BarChart, LineChart } from './chart.ts';
import { type Estimate, estimate, median } from './measure.ts';
import type { Finding, Section } from './report.ts';
import { sampleText } from './sample-event.ts';

/** What was measured of an inbox, for the charts that compare all of them. */
export interface InboxSection extends Section {
  /** Deliveries a second; `own` ones are this package's. */
  readonly rates: BarChart['bars'];
  /** Microseconds for each delivery, by how many wait. */
  readonly byBacklog?: LineChart['lines'] | undefined;
}

/** Does its work for this many new deliveries, and resolves with the milliseconds that count. */
export type TimedWork = (deliveries: readonly Delivery[]) => Promise<number>;

let made = 0;

/** As `timeInTurns` of measure.ts, for work that waits for a server. */
export async function timeDeliveriesInTurns<Name extends string>(
  contenders: Readonly<Record<Name, TimedWork>>,
  { count, warmup, rounds }: { readonly count: number; readonly warmup: number; readonly rounds: number },
): Promise<Record<Name, number[]>> {
  // Sound: the names of an object literal are its keys.
  const names = Object.keys(contenders) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = 0; round < warmup + rounds; round++) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const ms = await contenders[name](makeDeliveries(count));
      if (round >= warmup) times[name].push(ms);
    }
  }
  return times;
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
  const result = await inbox.receive(delivery, async () => {});
  if (result !== 'stored') throw new Error(`A new delivery was answered ${result}.`);
}

export function perSecond(what: string, times: readonly number[], count: number): Finding {
  return { what, measured: rateOf(times, count), unit: '/s' };
}

/** Deliveries a second. */
export function rateOf(times: readonly number[], count: number): number {
  return (count / median(times)) * 1000;
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
