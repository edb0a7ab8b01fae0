import { expect, it } from 'vitest';
import type { PgPool } from '../../../src/store/postgres/pg-client.ts';
import { poolSignals } from '../../../src/store/postgres/pool-signals.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { gate } from '../../webhooks/deliveries.ts';

// Sound: nothing here opens a connection.
const noPool = {} as PgPool;

it('a thousand signals at once are two statements: NOTIFY holds up the commits of others', async () => {
  const sent: unknown[] = [];
  const answered = gate();
  const { notify } = poolSignals(noPool, async (_, values) => {
    sent.push(values);
    await answered.opened;
  });
  for (let count = 0; count < 1_000; count++) notify(count % 2 === 0 ? 'inbox/' : 'other/');
  answered.open();
  await nextTurn();
  expect(sent).toEqual([
    ['partner_exchange', ['inbox/']],
    ['partner_exchange', ['other/', 'inbox/']],
  ]);
});

it('a signal that cannot be sent fails nothing, and the next one is sent', async () => {
  let calls = 0;
  const { notify } = poolSignals(noPool, async () => {
    calls++;
    throw new Error('down');
  });
  notify('inbox/');
  await nextTurn();
  notify('inbox/');
  await nextTurn();
  expect(calls).toBe(2);
});
