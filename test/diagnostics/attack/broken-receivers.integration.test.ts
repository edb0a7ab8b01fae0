import { describe, expect, it } from 'vitest';
import { attackReceiver } from '../../../src/diagnostics/attack/attack-receiver.ts';
import { transportCases } from '../../../src/diagnostics/attack/cases/transport.ts';
import { isThorough } from '../../support/repeat.ts';
import { credentials } from '../../webhooks/deliveries.ts';
import { brokenReceivers, startReceiver } from './broken-receivers.ts';

/** What is wrong with a connection, or takes its time. */
const onConnections = new Set(transportCases.map(({ id }) => id));

/** Takes long, and only one receiver leaks by it. */
const slow = ['timing'];

describe('attackReceiver, a receiver that', () => {
  it('is sound passes every case', { retry: 2, timeout: 60_000 }, async () => {
    await using receiver = await startReceiver();
    const { results } = await attackReceiver(receiver.url, {
      credentials,
      timeoutMs: 5000,
      handled: receiver.handled,
      // `our-receivers` has this case find nothing.
      skip: isThorough ? [] : slow,
    });
    expect(results.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(results.length).toBeGreaterThan(80);
  });

  for (const { name, steps, findings: expected, finds, timeoutMs = 5000 } of brokenReceivers) {
    // Other work on the machine can hide differences of time.
    const isTimed = expected.includes('timing');
    const retry = isTimed ? 2 : 0;
    const needsConnections = isTimed || expected.some((id) => onConnections.has(id));
    it(`${name} is found, and nothing else is said of it`, { retry, timeout: 60_000 }, async () => {
      await using receiver = await startReceiver(steps);
      const { results, findings } = await attackReceiver(receiver.url, {
        credentials,
        timeoutMs,
        handled: receiver.handled,
        skip: isTimed ? [] : slow,
        fetch: isThorough || needsConnections ? undefined : receiver.fetch,
      });
      expect(findings.map(({ id }) => id)).toEqual(expected);
      const found = results.filter(({ verdict }) => verdict !== 'ok' && verdict !== 'skipped');
      if (finds) expect(Object.fromEntries(found.map(({ id, verdict }) => [id, verdict]))).toEqual(finds);
      expect(found.filter(({ advice = '' }) => advice.length < 20)).toEqual([]);
    });
  }
});
