import { describe, expect, it, vi } from 'vitest';
import { attackReceiver } from '../../../../src/devtools/diagnostics/attack/attack-receiver.ts';
import type { FindingId } from '../../../../src/devtools/diagnostics/attack/findings.ts';
import { isThorough } from '../../../support/repeat.ts';
import { credentials } from '../../../webhooks/deliveries.ts';
import { type BrokenReceiver, brokenReceivers, startReceiver } from './broken-receivers.ts';

// Hundreds of deliveries each: a busy machine takes many times as long.
vi.setConfig({ testTimeout: 180_000 });

/** It takes longer than all other cases together, and one receiver fails it. */
const slow: readonly FindingId[] = isThorough ? [] : ['too-large'];

describe('attackReceiver, a receiver that', () => {
  // real time: the attack judges by time, and a busy machine answers late.
  it('is sound passes every case', { retry: 2 }, async () => {
    await using receiver = await startReceiver();
    const { results } = await attackReceiver(receiver.url, {
      credentials,
      timeoutMs: 5000,
      handled: receiver.handled,
    });
    expect(results.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(results.length).toBeGreaterThan(50);
  });

  for (const receiver of brokenReceivers) {
    const title = `${receiver.name} is found, and nothing else is said of it`;
    it(title, { concurrent: receiver.timeoutMs === undefined }, () => expectFound(receiver));
  }
});

async function expectFound(broken: BrokenReceiver) {
  const { steps, findings: expected, finds, timeoutMs = 20_000 } = broken;
  await using receiver = await startReceiver(steps);
  const { results, findings } = await attackReceiver(receiver.url, {
    credentials,
    timeoutMs,
    handled: receiver.handled,
    // real time: these receivers act before they answer: only a missing effect is waited for.
    effectTimeoutMs: 500,
    skip: slow.filter((id) => !expected.includes(id)),
    fetch: receiver.fetch,
  });
  expect(findings.map(({ id }) => id)).toEqual(expected);
  const found = results.filter(({ verdict }) => verdict !== 'ok' && verdict !== 'skipped');
  expect(Object.fromEntries(found.map(({ id, verdict }) => [id, verdict]))).toEqual(finds);
  expect(found.filter(({ advice = '' }) => advice.length < 20)).toEqual([]);
}
