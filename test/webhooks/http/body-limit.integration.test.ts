import { describe, expect, it } from 'vitest';
import { buyInitBody } from '../../support/bodies.ts';
import { delivery, quietWebhooks } from '../deliveries.ts';
import { rawConnection, serve } from './server.ts';
import { describeTransports } from './transports.ts';

const kibibyte = 1024;
const bytes = (text: string) => new TextEncoder().encode(text);

/** An authentic delivery of exactly this many bytes. */
function deliveryOf(size: number): string {
  const room = size - delivery(buyInitBody({ filler: '' })).length;
  return delivery(buyInitBody({ filler: 'x'.repeat(room) }));
}

function chunks(body: string, size: number): Uint8Array[] {
  const whole = bytes(body);
  return Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
    whole.subarray(index * size, (index + 1) * size),
  );
}

describeTransports('the body limit', (post) => {
  it('is 64 KiB unless said otherwise', async () => {
    const webhooks = quietWebhooks();
    expect(await post(webhooks, { body: deliveryOf(64 * kibibyte) })).toMatchObject({ status: 200 });
    expect(await post(webhooks, { body: deliveryOf(64 * kibibyte + 1) })).toMatchObject({
      status: 413,
      body: '{"error":"body_too_large"}',
    });
  });

  it('holds for a stream without a length', async () => {
    const webhooks = quietWebhooks({ maxBodyBytes: 2000 });
    expect(await post(webhooks, { body: chunks(deliveryOf(2000), 300) })).toMatchObject({ status: 200 });
    expect(await post(webhooks, { body: chunks(deliveryOf(2001), 300) })).toMatchObject({ status: 413 });
  });

  it('counts bytes, not characters', async () => {
    const sent = delivery(buyInitBody({ filler: '😀'.repeat(200) }));
    const size = bytes(sent).length;
    expect(await post(quietWebhooks({ maxBodyBytes: size }), { body: sent })).toMatchObject({ status: 200 });
    expect(await post(quietWebhooks({ maxBodyBytes: size - 1 }), { body: sent })).toMatchObject({
      status: 413,
    });
  });
});

describe('fetch stops reading at the limit', () => {
  /** A body without an end, and what became of it. */
  function endless() {
    const seen = { bytes: 0, cancelled: false };
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        seen.bytes += kibibyte;
        controller.enqueue(new Uint8Array(kibibyte).fill(0x20));
      },
      cancel() {
        seen.cancelled = true;
      },
    });
    return { seen, stream };
  }

  function requestOf(stream: ReadableStream<Uint8Array>, headers: Record<string, string> = {}): Request {
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body: stream, duplex: 'half' };
    return new Request('https://partner.example/callback', init);
  }

  it('of a body without an end', async () => {
    const { seen, stream } = endless();
    const response = await quietWebhooks({ maxBodyBytes: 10 * kibibyte }).fetch(requestOf(stream));
    expect(response.status).toBe(413);
    // One chunk over the limit, and one that the stream holds ready.
    expect(seen.bytes).toBeLessThanOrEqual(12 * kibibyte);
    expect(seen.cancelled).toBe(true);
  });

  it('before it begins, by its length', async () => {
    const { seen, stream } = endless();
    const response = await quietWebhooks().fetch(requestOf(stream, { 'content-length': '1000000' }));
    expect(response.status).toBe(413);
    expect(seen.bytes).toBeLessThanOrEqual(kibibyte);
    expect(seen.cancelled).toBe(true);
  });
});

describe('node', () => {
  it('drops a body without an end, and closes the connection in time', async () => {
    // real time: nothing ends before it: a busy machine only makes it later.
    await using server = await serve(quietWebhooks({ bodyTimeoutMs: 100 }).node);
    const connection = rawConnection(server.port);
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    await connection.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    const sendAll = async (): Promise<never> => {
      for (;;) await connection.write(chunk);
    };
    await expect(sendAll()).rejects.toThrow();
  });
});
