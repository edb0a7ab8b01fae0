/**
 * Reads a stream of bytes to its end; `undefined` beyond the limit, and the caller then cancels the reader.
 *
 * @throws {TypeError} for anything but bytes: their size is unknown
 */
export async function readBounded(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return joinChunks(chunks, size);
    if (!ArrayBuffer.isView(value)) throw new TypeError('The stream gave something other than bytes.');
    size += value.byteLength;
    if (size > maxBytes) return undefined;
    chunks.push(value);
  }
}

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
