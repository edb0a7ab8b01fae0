import { describe, expect, it } from 'vitest';
import { makeProbes } from '../../../../src/devtools/diagnostics/attack/probes.ts';
import { watchLimits } from '../../../../src/devtools/diagnostics/attack/receiver-limits.ts';
import type { PostAnswer } from '../../../../src/devtools/diagnostics/post-request.ts';
import { defaultScheme } from '../../../../src/signature/signature-scheme.ts';

const probes = makeProbes({
  scheme: defaultScheme,
  key: 'key',
  wireNames: {},
  callbackUrl: 'http://localhost/',
  event: 'event.buy.init',
});

/** Posts to a receiver that gives these answers one after another, and the last one for ever. */
async function post(
  body: string,
  statuses: readonly number[],
  { mayBeBusy, headers }: { mayBeBusy?: boolean; headers?: HeadersInit } = {},
) {
  const pauses: number[] = [];
  const limits = watchLimits({ probes, pause: async (ms) => void pauses.push(ms), budgetMs: 10_000 });
  let sent = 0;
  const answer = await limits.post({ body, mayBeBusy }, async (): Promise<PostAnswer> => {
    const status = statuses[Math.min(sent++, statuses.length - 1)] ?? 0;
    return { kind: 'answered', status, headers: new Headers(headers), text: '' };
  });
  const status = answer.kind === 'answered' ? answer.status : 0;
  return { status, sent, pauses: pauses.length, limited: limits.summary()?.answered };
}

describe('a limit of the receiver', () => {
  const later = { headers: { 'retry-after': '1' } };
  it.each<[string, readonly number[], object, object]>([
    ['is 429, after which the delivery comes again', [429, 200], {}, { status: 200, sent: 2, limited: 1 }],
    ['is a 503 with Retry-After', [503, 503, 200], later, { status: 200, sent: 3, pauses: 2, limited: 2 }],
    ['stays after five tries', [429], {}, { status: 429, sent: 5, pauses: 4, limited: 5 }],
    ['is no other 503', [503, 200], {}, { status: 503, sent: 1, pauses: 0, limited: undefined }],
    ['is no 500', [500, 200], later, { status: 500, sent: 1, limited: undefined }],
    [
      'is no answer to one of several equal deliveries at once',
      [503, 200],
      { ...later, mayBeBusy: true },
      { status: 503, sent: 1, limited: undefined },
    ],
  ])('%s', async (_, statuses, more, expected) => {
    expect(await post(probes.authentic(), statuses, more)).toMatchObject(expected);
  });

  it('is no 503 with Retry-After to a forgery, which refuses it', async () => {
    expect(await post(probes.forged(), [503, 200], later)).toMatchObject({ status: 503, sent: 1 });
  });
});
