import { describe, expect, it, vi } from 'vitest';
import type { AttackResult } from '../../../../src/devtools/diagnostics/attack/attack-case.ts';
import { attackReceiver } from '../../../../src/devtools/diagnostics/attack/attack-receiver.ts';
import { alteredCases } from '../../../../src/devtools/diagnostics/attack/cases/altered.ts';
import { forgedCases } from '../../../../src/devtools/diagnostics/attack/cases/forgeries.ts';
import { handlingCases } from '../../../../src/devtools/diagnostics/attack/cases/handled-once.ts';
import { keyCases } from '../../../../src/devtools/diagnostics/attack/cases/other-keys.ts';
import { repetitionCases } from '../../../../src/devtools/diagnostics/attack/cases/repetition.ts';
import { signatureCases } from '../../../../src/devtools/diagnostics/attack/cases/signatures.ts';
import { effectKey } from '../../../../src/events/effect-key.ts';
import type { OrderEvent } from '../../../../src/events/order-event.ts';
import { memoryInbox } from '../../../../src/inbox/memory-inbox.ts';
import { storeInbox } from '../../../../src/inbox/store/store-inbox.ts';
import type { SignatureScheme } from '../../../../src/signature/signature-scheme.ts';
import { memoryStore } from '../../../../src/store/memory-store.ts';
import { createWebhooks, type Webhooks } from '../../../../src/webhooks/create-webhooks.ts';
import { isThorough } from '../../../support/repeat.ts';
import { credentials } from '../../../webhooks/deliveries.ts';
import { ourReceivers } from './our-receivers.ts';

// Hundreds of deliveries each: a busy machine takes many times as long.
vi.setConfig({ testTimeout: 180_000 });

/** What no adapter can get wrong. */
const behindAdapters = [
  forgedCases,
  alteredCases,
  keyCases,
  signatureCases,
  repetitionCases,
  handlingCases,
].flatMap(Object.keys);

describe('attackReceiver finds nothing wrong with our webhooks', () => {
  // real time: the attack judges by time, and a busy machine answers late.
  it.concurrent.each(Object.entries(ourReceivers))('on %s', { retry: 2 }, async (name, mount) => {
    // Behind all adapters the same code verifies and looks for repetitions.
    const isComplete = name === 'node:http' || isThorough;
    const skip = isComplete ? [] : behindAdapters;
    const { webhooks, handled } = countingWebhooks();
    const { port, close } = await mount(webhooks);
    try {
      const { results } = await attackReceiver(`http://127.0.0.1:${port}/`, {
        credentials,
        timeoutMs: 5000,
        handled,
        skip,
      });
      expect(problems(results)).toEqual([]);
      // What is left out on purpose has no result.
      expect(skipped(results)).toEqual([]);
    } finally {
      await close();
    }
  });

  it('with an inbox', async () => {
    const inbox = memoryInbox();
    const { webhooks, handled } = countingWebhooks({ inbox });
    const { results } = await attackReceiver('http://localhost/', {
      credentials,
      fetch: inProcess(webhooks),
      handled,
    });
    expect(problems(results)).toEqual([]);
  });

  const otherShapes = ['authentic-unfamiliar'];

  it('without an inbox: it answers 500 to what it cannot read, and drops nothing', async () => {
    const { countEvent, handled } = countingWebhooks();
    const honest = createWebhooks({ credentials, onError: () => {} }).onAny(countEvent);
    const options = { credentials, fetch: inProcess(honest), handled, only: otherShapes };
    const { results } = await attackReceiver('http://localhost/', options);
    expect(problems(results)).toEqual([]);
    expect(skipped(results)).toEqual([]);
    expect(results.map(({ answered }) => answered).join()).toContain('500');
  });

  const dropped = { id: 'authentic-unfamiliar', verdict: 'broken' };
  it.concurrent.each([
    ['counts the dead letters of an inbox', true, undefined],
    ['does not count them, which the advice names', false, dropped],
  ])('with an inbox that keeps what cannot be read, if the owner %s', async (_, isCounted, expected) => {
    const store = memoryStore();
    const inbox = storeInbox({ store });
    const { countEvent, handled } = countingWebhooks();
    const keeping = createWebhooks({ credentials, inbox, onError: () => {} }).onAny(countEvent);
    const kept = async (id: string) => {
      const letters = await inbox.deadLetters({ withBody: true });
      return letters.filter(({ body = '' }) => JSON.parse(body).partner_order_id === id).length;
    };
    const { findings } = await attackReceiver('http://localhost/', {
      credentials,
      fetch: inProcess(keeping),
      handled: async (id) => handled(id) + (isCounted ? await kept(id) : 0),
      effectTimeoutMs: 1_000,
      only: otherShapes,
    });
    await inbox.stop();
    const [finding] = findings;
    if (expected === undefined) expect(findings).toEqual([]);
    else expect(finding).toMatchObject(expected);
    if (finding !== undefined) expect(finding.advice).toContain('a dead letter');
  });

  const schemes: readonly SignatureScheme[] = [
    { construction: 'hash-suffix', serialization: 'as-sent', encoding: 'base64' },
    { construction: 'hash-prefix', serialization: 'python-sorted', encoding: 'base64-hex' },
    { construction: 'hmac', serialization: 'values', encoding: 'hex', joiner: '|' },
    { construction: 'hmac', serialization: 'query', encoding: 'hex', orderKey: 'public+partner' },
  ];

  it.concurrent.each(schemes.map((scheme) => [JSON.stringify(scheme), scheme] as const))(
    'under the scheme %s, of which it skips what is not signed',
    async (_, signature) => {
      const deployment = { signature, wireNames: { platform_order_ref: 'acme_ref' } };
      const { webhooks, handled } = countingWebhooks({ deployment });
      const { results } = await attackReceiver('http://localhost/', {
        credentials,
        deployment,
        fetch: inProcess(webhooks),
        handled,
        skip: ['too-large'],
      });
      expect(problems(results)).toEqual([]);
      expect(results.filter(({ verdict }) => verdict === 'ok').length).toBeGreaterThan(35);
    },
  );
});

function countingWebhooks(options: Partial<Parameters<typeof createWebhooks>[0]> = {}) {
  const counts = new Map<string, number>();
  const count = (id: unknown) => void counts.set(String(id), (counts.get(String(id)) ?? 0) + 1);
  const effects = new Set<string | undefined>();
  // As the guides say: an effect is guarded by the order and its step, whatever text told of it.
  const countEvent = (event: OrderEvent) => {
    const key = effectKey(event);
    if (key === undefined || !effects.has(key)) count(event.partner_order_id);
    effects.add(key);
  };
  const webhooks = createWebhooks({ credentials, bodyTimeoutMs: 1_000, ...options })
    .onAny(countEvent)
    .onUnrecognized((_, { body }) => count(body.partner_order_id));
  return { webhooks, countEvent, handled: (id: string) => counts.get(id) ?? 0 };
}

function inProcess(webhooks: Webhooks): typeof fetch {
  return (url, init) => webhooks.fetch(new Request(url, init));
}

function problems(results: readonly AttackResult[]) {
  return results.filter(({ verdict }) => verdict === 'broken' || verdict === 'weak');
}

function skipped(results: readonly AttackResult[]) {
  return results.filter(({ verdict }) => verdict === 'skipped');
}
