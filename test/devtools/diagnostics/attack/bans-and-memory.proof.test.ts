import { expect, it } from 'vitest';
import { attackReceiver } from '../../../../src/devtools/diagnostics/attack/attack-receiver.ts';
import { credentials } from '../../../webhooks/deliveries.ts';
import { soundSteps, startReceiver } from './broken-receivers.ts';

it('attackReceiver says in the words of the case that a receiver forgets after two seconds', async () => {
  await using receiver = await startReceiver({
    act(event, { seen, count }) {
      const key = String(event.partner_order_id);
      if (seen.has(key)) return;
      seen.add(key);
      // real time: the fault that is to be found.
      setTimeout(() => seen.delete(key), 2_000);
      count(event);
    },
  });
  const { findings } = await attackReceiver(receiver.url, {
    credentials,
    handled: receiver.handled,
    fetch: receiver.fetch,
    only: ['repeated', 'repeated-later'],
  });
  expect(findings).toMatchObject([
    { id: 'repeated-later', what: 'acts again on a delivery after two seconds' },
  ]);
});

it('attackReceiver sends little to a receiver once this has banned it for good', async () => {
  let [refused, sentInVain] = [0, 0];
  await using receiver = await startReceiver({
    verify(text, request) {
      if (refused < 100) return soundSteps.verify(text, request);
      sentInVain++;
      throw new Error('banned');
    },
    refuse() {
      refused++;
      return [401, 'refused'];
    },
  });
  const { findings, results } = await attackReceiver(receiver.url, {
    credentials,
    fetch: receiver.fetch,
  });
  expect(findings).toMatchObject([{ id: 'refuses-when-limited', verdict: 'broken' }]);
  const unproven = results.filter(({ answered }) => answered.includes('lift its limit, or its ban'));
  expect(unproven.length).toBeGreaterThan(20);
  expect(unproven.every(({ verdict }) => verdict === 'skipped')).toBe(true);
  // Up to 40 forgeries before an authentic delivery shows it, and the case that is tried again.
  expect(sentInVain).toBeLessThan(100);
});
