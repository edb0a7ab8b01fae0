import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { AttackOptions } from '../../../../src/devtools/diagnostics/attack/attack-options.ts';
import { attackReceiver } from '../../../../src/devtools/diagnostics/attack/attack-receiver.ts';
import { orderEventNames } from '../../../../src/events/event-names.ts';
import type { JsonObject } from '../../../../src/internal/json.ts';
import { credentials } from '../../../webhooks/deliveries.ts';
import { soundSteps, startReceiver } from './broken-receivers.ts';

// Hundreds of deliveries each: a busy machine takes many times as long.
vi.setConfig({ testTimeout: 180_000 });

type Steps = NonNullable<Parameters<typeof startReceiver>[0]>;

interface SoundReceiver {
  readonly steps: () => Steps;
  readonly handles?: AttackOptions['handles'];
  /** How many cases it lets be judged, at least. @default 45 */
  readonly judged?: number;
}

class Busy extends Error {}

const refusing = (status: number): SoundReceiver => ({
  steps: () => ({ refuse: (error) => (error instanceof Busy ? [503, 'busy'] : [status, 'refused']) }),
});

/** As of an order that moves forward alone. */
const stages: readonly unknown[] = orderEventNames;
const stage = ({ event_name }: JsonObject) => stages.indexOf(event_name);

/** Each does something in its own way, and nothing wrong. */
const soundReceivers: Readonly<Record<string, SoundReceiver>> = {
  'refuses with 400': refusing(400),
  'refuses with 422': refusing(422),
  'refuses with 503 while it waits for keys': {
    steps: () => ({ refuse: () => [503, 'the keys are read again', { 'retry-after': '5' }] }),
  },
  'refuses with 503 while it may not read its keys again, and with 401 otherwise': {
    steps() {
      let refused = 0;
      return {
        refuse: () => (refused++ % 3 === 0 ? [401, 'refused'] : [503, 'later', { 'retry-after': '5' }]),
      };
    },
  },
  'acts in a worker, a while after its answer': {
    steps: () => ({
      act(event, acting) {
        // real time: what the attack has to wait for.
        setTimeout(() => soundSteps.act(event, acting), 150);
      },
    }),
  },
  'acts in a worker that takes events from the newest on': {
    steps() {
      const waiting: (() => void)[] = [];
      return {
        act(event, acting) {
          waiting.push(() => void soundSteps.act(event, acting));
          // real time: what the attack has to wait for.
          setTimeout(() => waiting.pop()?.(), 60);
        },
      };
    },
  },
  'acts on credits alone': {
    steps: () => ({
      act: (event, acting) =>
        event.event_name === 'event.buy.credited.crypto' ? soundSteps.act(event, acting) : undefined,
    }),
  },
  'acts on credits whose status is PAID alone': {
    steps: () => ({
      act: (event, acting) =>
        event.crypto_payment_status === 'PAID' || event.event_name !== 'event.buy.credited.crypto'
          ? soundSteps.act(event, acting)
          : undefined,
    }),
  },
  'acts on every event of the contract': { steps: () => ({}), handles: orderEventNames },
  'never goes back in the states of an order': {
    handles: ['event.buy.received.fiat', 'event.buy.credited.crypto', 'buy.event.close'],
    steps() {
      const reached = new Map<unknown, number>();
      return {
        act(event, acting) {
          const before = reached.get(event.partner_order_id) ?? -1;
          if (stage(event) <= before && stage(event) >= 0) return;
          reached.set(event.partner_order_id, stage(event));
          return soundSteps.act(event, acting);
        },
      };
    },
  },
  'keeps a second statement that contradicts the first for a person': {
    steps() {
      const amounts = new Map<string, unknown>();
      return {
        act(event, acting) {
          const key = `${event.partner_order_id} ${event.event_name}`;
          const amount = amounts.get(key) ?? event.crypto_amount_to_receive;
          amounts.set(key, amount);
          if (amount === event.crypto_amount_to_receive) return soundSteps.act(event, acting);
          if (!acting.seen.has(`${key} kept`)) acting.count(event);
          acting.seen.add(`${key} kept`);
        },
      };
    },
  },
  'answers 503 to a repetition while it acts': {
    steps() {
      const busy = new Set<unknown>();
      return {
        verify(text, request) {
          const event = soundSteps.verify(text, request);
          if (busy.has(event.partner_order_id)) throw new Busy();
          return event;
        },
        refuse: (error) => (error instanceof Busy ? [503, 'busy'] : [401, 'refused']),
        async act(event, acting) {
          busy.add(event.partner_order_id);
          // real time: a repetition comes meanwhile.
          await sleep(15);
          await soundSteps.act(event, acting);
          busy.delete(event.partner_order_id);
        },
      };
    },
  },
  'answers 500 to a shape that it does not know': {
    steps: () => ({
      verify(text, request) {
        const event = soundSteps.verify(text, request);
        if (typeof event.exchange_rate !== 'number' && event.event_name !== 'buy.event.close')
          throw new Busy();
        return event;
      },
      refuse: (error) => (error instanceof Busy ? [500, 'unknown shape'] : [401, 'refused']),
    }),
  },
  'wants the bearer of the service too': {
    steps: () => ({
      before(_text, _acting, { headers }) {
        if (headers.authorization !== `Bearer ${credentials.partnerPublicKey}`) throw new Error('no bearer');
      },
    }),
  },
  'limits rates with 429': limiting(429),
  'limits rates with 503': limiting(503),
};

/** Of this many requests in a fifth of a second, the rest has to come again. */
function limiting(status: 429 | 503): SoundReceiver {
  return {
    judged: 1,
    steps() {
      let [window, used] = [0, 0];
      return {
        before() {
          const now = Math.floor(performance.now() / 200);
          used = now === window ? used + 1 : 1;
          window = now;
          if (used > 40) throw new Busy();
        },
        refuse: (error) =>
          error instanceof Busy ? [status, 'slow down', { 'retry-after': '1' }] : [401, 'refused'],
      };
    },
  };
}

describe.concurrent('attackReceiver reports nothing of a sound receiver that', () => {
  it.each(Object.entries(soundReceivers))('%s', async (_, { steps, handles, judged = 45 }) => {
    await using receiver = await startReceiver(steps());
    const { fetch, handled } = receiver;
    const { findings, results } = await attackReceiver(receiver.url, {
      credentials,
      fetch,
      handled,
      ...(handles && { handles }),
      timeoutMs: 20_000,
      skip: ['too-large'],
    });
    expect(findings).toEqual([]);
    expect(results.filter(({ verdict }) => verdict === 'ok').length).toBeGreaterThan(judged);
  });
});
