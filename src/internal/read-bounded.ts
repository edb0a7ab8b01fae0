/** A stream of bytes, or an object of a framework in its place. */
export interface ByteSource {
  getReader(): Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'>;
}

/**
 * Reads a stream of bytes to its end; `undefined` beyond the limit. A stream that is not read to its end is cancelled.
 *
 * @param stream `null` is empty
 * @throws {TypeError} for anything but bytes: their size is unknown
 */
export async function readBounded(
  stream: ByteSource | null,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  if (stream === null) return new Uint8Array();
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isEnded = false;
  try {
    while (size <= maxBytes) {
      const { done, value } = await reader.read();
      isEnded = done;
      if (done) return joinChunks(chunks, size);
      if (!ArrayBuffer.isView(value)) throw new TypeError('The stream gave something other than bytes.');
      size += value.byteLength;
      chunks.push(value);
    }
    return undefined;
  } finally {
    // Not awaited: a peer that never ends its body must not block the caller.
    if (!isEnded) reader.cancel().catch(() => {});
  }
}

/** As {@link readBounded}, the bytes as text: those that are not UTF-8 are replaced. */
export async function readBoundedText(
  stream: ByteSource | null,
  maxBytes: number,
): Promise<string | undefined> {
  const bytes = await readBounded(stream, maxBytes);
  return bytes && new TextDecoder().decode(bytes);
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
