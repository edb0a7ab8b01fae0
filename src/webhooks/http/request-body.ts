import type { RequestRefusalCode } from '../outcome.ts';

/** A body as received, or why there is none. */
export type RequestBody = { readonly body: string | Uint8Array } | { readonly refusal: RequestRefusalCode };

/** One array of bytes out of many. */
export function joinChunks(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}
