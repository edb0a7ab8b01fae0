import { describe, expect, it } from 'vitest';
import { postRequest } from '../../../src/devtools/diagnostics/post-request.ts';

const request = { url: 'https://receiver.test/', headers: {}, body: '{}' };
const neverEnds = () => new Promise<never>(() => {});
const failing = (error: unknown) => async () => {
  throw error;
};

describe('a posted request', () => {
  it('gives status, headers and text', async () => {
    const fetch = async () => new Response('fine', { status: 202, headers: { 'x-id': '1' } });
    const answer = await postRequest(request, { fetch, timeoutMs: 1000 });
    expect(answer).toMatchObject({ kind: 'answered', status: 202, text: 'fine' });
    expect(answer.kind === 'answered' && answer.headers.get('x-id')).toBe('1');
  });

  it('is answered without a text if the body is too long or breaks off', async () => {
    const long = async () => new Response('four');
    const limited = { fetch: long, timeoutMs: 1000, maxAnswerBytes: 3 };
    expect(await postRequest(request, limited)).toMatchObject({ status: 200, text: undefined });
    const broken = async () =>
      new Response(new ReadableStream({ pull: (controller) => controller.error(new Error('broken')) }));
    const answer = await postRequest(request, { fetch: broken, timeoutMs: 1000 });
    expect(answer).toMatchObject({ kind: 'answered', status: 200, text: undefined });
  });

  it('is late, though fetch ignores its signal', async () => {
    // real time: nothing ends before it: a busy machine only makes it later.
    const answer = await postRequest(request, { fetch: neverEnds, timeoutMs: 1 });
    expect(answer).toEqual({ kind: 'late', afterMs: 1 });
  });

  it('is late with its status if only the body is late', async () => {
    const fetch = async () => new Response(new ReadableStream({ pull: neverEnds }), { status: 201 });
    // real time: nothing ends before it: a busy machine only makes it later.
    const answer = await postRequest(request, { fetch, timeoutMs: 1 });
    expect(answer).toMatchObject({ kind: 'late', afterMs: 1, status: 201 });
  });

  it.each([
    [
      'the code of the cause',
      Object.assign(new TypeError('x'), { cause: { code: 'ECONNRESET' } }),
      'ECONNRESET',
    ],
    ['its own code', Object.assign(new Error('x'), { code: 'ConnectionRefused' }), 'ConnectionRefused'],
    ['its name', new TypeError('https://receiver.test/'), 'TypeError'],
    ['nothing', 'https://receiver.test/', 'unknown'],
  ])('is closed with %s of the error', async (_, error, reason) => {
    const answer = await postRequest(request, { fetch: failing(error), timeoutMs: 1000 });
    expect(answer).toEqual({ kind: 'closed', reason });
  });

  it('rejects with the reason of the signal, and sends nothing after it', async () => {
    const controller = new AbortController();
    const options = { fetch: neverEnds, timeoutMs: 1000, signal: controller.signal };
    const posted = postRequest(request, options);
    controller.abort('enough');
    await expect(posted).rejects.toBe('enough');
    await expect(postRequest(request, options)).rejects.toBe('enough');
  });
});
