/** Returns this many random bytes. */
export type RandomBytes = (bytes: number) => Uint8Array;

export const randomBytes: RandomBytes = (bytes) => crypto.getRandomValues(new Uint8Array(bytes));

/** A number from 0 up to 1, in steps of 1/65,536: fine enough for the random part of a delay. */
export function randomFraction(random: RandomBytes): number {
  const [high = 0, low = 0] = random(2);
  return (high * 256 + low) / 65_536;
}
