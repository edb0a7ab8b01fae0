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
async function post(body: string, statuses: readonly number[], more: { mayBeBusy?: boolean } = {}) {
  const pauses: number[] = [];
  const limits = watchLimits({ probes, pause: async (ms) => void pauses.push(ms), budgetMs: 10_000 });
  let sent = 0;
  const answer = await limits.post({ body, ...more }, async (): Promise<PostAnswer> => {
    const status = statuses[Math.min(sent++, statuses.length - 1)] ?? 0;
    return { kind: 'answered', status, headers: new Headers(), text: '' };
  });
  const status = answer.kind === 'answered' ? answer.status : 0;
  return { status, sent, pauses: pauses.length, limited: limits.summary()?.answered };
}

describe('a limit of the receiver', () => {
  it.each<[string, readonly number[], object]>([
    ['is 429, after which the delivery comes again', [429, 200], { status: 200, sent: 2, limited: 1 }],
    ['is a 503 that a pause cures', [503, 503, 200], { status: 200, sent: 3, pauses: 1, limited: 2 }],
    ['is no 503 that is gone at once', [503, 200], { status: 200, sent: 2, pauses: 0, limited: undefined }],
    ['is no 503 that stays', [503], { status: 503, limited: undefined }],
    ['is no 500', [500, 200], { status: 500, sent: 1, limited: undefined }],
  ])('%s', async (_, statuses, expected) => {
    expect(await post(probes.authentic(), statuses)).toMatchObject(expected);
  });

  it('is a 503 of a receiver that limits so, once no time is left to wait for it', async () => {
    const limits = watchLimits({ probes, pause: async () => {}, budgetMs: 300 });
    const statuses = [503, 503, 200, 503, 503, 503];
    const send = async (): Promise<PostAnswer> => {
      return { kind: 'answered', status: statuses.shift() ?? 503, headers: new Headers(), text: '' };
    };
    await limits.post({ body: probes.authentic() }, send);
    expect(await limits.post({ body: probes.authentic() }, send)).toMatchObject({
      status: 503,
      isLimited: true,
    });
  });

  it('is no answer to one of several equal deliveries at once', async () => {
    const answer = await post(probes.authentic(), [503, 200], { mayBeBusy: true });
    expect(answer).toMatchObject({ status: 503, sent: 1, limited: undefined });
  });

  it('is no 503 with Retry-After to a forgery, which refuses it', async () => {
    const limits = watchLimits({ probes, pause: async () => {}, budgetMs: 10_000 });
    let sent = 0;
    await limits.post({ body: probes.forged() }, async () => {
      sent++;
      return { kind: 'answered', status: 503, headers: new Headers({ 'retry-after': '1' }), text: '' };
    });
    expect(sent).toBe(1);
  });
});
