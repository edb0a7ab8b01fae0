import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBounded, readBoundedText } from '../../src/internal/read-bounded.ts';

/** A stream of these chunks, how many of them were asked for, and whether it was cancelled. */
function streamOf(chunks: readonly unknown[]) {
  let pulled = 0;
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        // What a stream gives need not be what it promises.
        if (pulled < chunks.length) controller.enqueue(chunks[pulled++] as Uint8Array);
        else controller.close();
      },
      cancel() {
        isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, pulled: () => pulled, isCancelled: () => isCancelled };
}

describe('a stream that is read up to a limit', () => {
  it('gives its bytes, however they are cut, when they are no more than that', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 9 }), async (chunks) => {
        const whole = Buffer.concat(chunks);
        const { stream, isCancelled } = streamOf(chunks);
        expect(Buffer.from((await readBounded(stream, whole.length)) ?? 'none')).toEqual(whole);
        expect(isCancelled()).toBe(false);
      }),
    );
  });

  it('gives its text', async () => {
    const chunks = [...Buffer.from('é')].map((byte) => Uint8Array.of(byte));
    expect(await readBoundedText(streamOf(chunks).stream, 2)).toBe('é');
    expect(await readBoundedText(streamOf(chunks).stream, 1)).toBeUndefined();
  });

  it('is empty when there is no stream', async () => {
    expect(await readBounded(null, 0)).toEqual(new Uint8Array());
    expect(await readBoundedText(null, 0)).toBe('');
  });

  it('gives nothing when there is one byte more, and is cancelled', async () => {
    const { stream, pulled, isCancelled } = streamOf([4, 5, 1].map((size) => new Uint8Array(size)));
    expect(await readBounded(stream, 8)).toBeUndefined();
    expect(pulled()).toBe(2);
    expect(isCancelled()).toBe(true);
  });

  it('is refused when it gives something other than bytes, whose size nobody knows', async () => {
    const { stream, isCancelled } = streamOf(['text']);
    await expect(readBounded(stream, 8)).rejects.toThrow(TypeError);
    expect(isCancelled()).toBe(true);
  });
});
