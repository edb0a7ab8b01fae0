import { afterAll, beforeAll, expect } from 'vitest';
import { nextTurn } from '../support/next-turn.ts';

/** Fails the suite when anything in it left a rejection behind that nobody handled. */
export function watchRejections(): void {
  const left: unknown[] = [];
  const note = (reason: unknown) => {
    left.push(reason);
  };
  beforeAll(() => {
    process.on('unhandledRejection', note);
  });
  afterAll(async () => {
    await nextTurn();
    process.off('unhandledRejection', note);
    expect(left).toEqual([]);
  });
}
