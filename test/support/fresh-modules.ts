import { expect, vi } from 'vitest';

/*
 * Test files share a process, not the modules: what `src` remembers, and what a test replaces in it, is each file's own.
 */
vi.resetModules();

/** Milliseconds. The second that vitest waits by itself is less than a busy machine may stand still. */
const patienceMs = 15_000;

// Once a process: files share it, and its vitest.
const mark = Symbol.for('partner-exchange-tests.patience');
if (!Reflect.has(vi, mark)) {
  Reflect.set(vi, mark, true);
  const { waitFor, waitUntil } = vi;
  const { poll } = expect;
  const withPatience = (options?: number | { readonly timeout?: number; readonly interval?: number }) =>
    typeof options === 'number' ? options : { timeout: patienceMs, ...options };
  vi.waitFor = (assertion, options) => waitFor(assertion, withPatience(options));
  vi.waitUntil = (isTrue, options) => waitUntil(isTrue, withPatience(options));
  expect.poll = (read, options) => poll(read, { timeout: patienceMs, ...options });
}
