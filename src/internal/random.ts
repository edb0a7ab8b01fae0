/** As many random bytes as it is asked for. @inline */
export type RandomBytes = (size: number) => Uint8Array;

export const randomBytes: RandomBytes = (size) => crypto.getRandomValues(new Uint8Array(size));
