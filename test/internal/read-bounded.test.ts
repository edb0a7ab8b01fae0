import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinChunks, readBounded } from '../../src/internal/read-bounded.ts';

/** A stream of these chunks, and how many of them were asked for. */
function streamOf(chunks: readonly unknown[]) {
  let pulled = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        // What a stream gives need not be what it promises.
        if (pulled < chunks.length) controller.enqueue(chunks[pulled++] as Uint8Array);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { reader: stream.getReader(), pulled: () => pulled };
}

describe('a stream that is read up to a limit', () => {
  it('gives its bytes, however they are cut, when they are no more than that', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 9 }), async (chunks) => {
        const whole = Buffer.concat(chunks);
        const { reader } = streamOf(chunks);
        expect(Buffer.from((await readBounded(reader, whole.length)) ?? 'none')).toEqual(whole);
      }),
    );
  });

  it('gives nothing when there is one byte more, and is not read on', async () => {
    const { reader, pulled } = streamOf([new Uint8Array(4), new Uint8Array(5), new Uint8Array(1)]);
    expect(await readBounded(reader, 8)).toBeUndefined();
    expect(pulled()).toBe(2);
  });

  it('is refused when it gives something other than bytes, whose size nobody knows', async () => {
    const { reader } = streamOf(['text']);
    await expect(readBounded(reader, 8)).rejects.toThrow(TypeError);
  });

  it('passes on why it broke', async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('reset')),
    });
    await expect(readBounded(broken.getReader(), 8)).rejects.toThrow('reset');
  });
});

it('joins nothing to nothing', () => {
  expect(joinChunks([], 0)).toEqual(new Uint8Array());
});
