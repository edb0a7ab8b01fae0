import { expect, it, onTestFinished, vi } from 'vitest';
import { callHook } from '../../src/internal/warn.ts';
import { nextTurn } from '../support/next-turn.ts';

function warnings() {
  const emit = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => void emit.mockRestore());
  return () => emit.mock.calls.map(([message]) => message);
}
const settled = () => nextTurn();

it('a hook that throws, at once or later, is one warning without what it threw', async () => {
  const seen = warnings();
  const fails = () => {
    throw new Error('a secret');
  };
  callHook('onThing of createThing', fails);
  callHook('onThing of createThing', async () => fails());
  callHook('onOther of createThing', fails);
  await settled();
  expect(seen()).toEqual([
    'onThing of createThing failed; nothing else is affected.',
    'onOther of createThing failed; nothing else is affected.',
  ]);
});

it('a hook that fails is told of to a report of your own, each time', async () => {
  const seen = warnings();
  const told: string[] = [];
  for (let count = 0; count < 2; count++) {
    callHook(
      'onMine',
      () => Promise.reject(new Error('a secret')),
      (message) => told.push(message),
    );
  }
  await settled();
  expect(told).toEqual(Array(2).fill('onMine failed; nothing else is affected.'));
  expect(seen()).toEqual([]);
});
