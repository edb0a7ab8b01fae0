import { times } from './repeat.ts';

/**
 * How many times longer an act takes on four times the text: 4 when it is linear, 16 when it is quadratic.
 *
 * Each time is of the processor, and the best of several, taken by turns, so that what else the machine does disturbs
 * neither; and times under two milliseconds count as two, so that noise does not look like growth. (Quadratic work on
 * 64 KiB takes a hundred.) What looks like growth all the same is measured again.
 */
export function growth(makeText: (size: number) => string, act: (text: string) => unknown): number {
  const size = times(64, 256) * 1024;
  const small = makeText(size);
  const large = makeText(4 * size);
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 5 && least >= wellBelowQuadratic; attempt++) {
    let [before, after] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let turn = 0; turn < 4; turn++) {
      before = Math.min(
        before,
        timeOf(() => act(small)),
      );
      after = Math.min(
        after,
        timeOf(() => act(large)),
      );
    }
    least = Math.min(least, after / Math.max(2, before));
  }
  return least;
}

/** Well below quadratic, and far above what a busy machine makes of linear. */
export const wellBelowQuadratic = 9;

/** Milliseconds of the processor, however busy the machine is. */
export function timeOf(act: () => unknown): number {
  const start = processorMs();
  act();
  return processorMs() - start;
}

/** Milliseconds for which the processor has worked on this thread: a busy machine does not let it run faster. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
