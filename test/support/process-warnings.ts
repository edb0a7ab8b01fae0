import { onTestFinished, vi } from 'vitest';

/** Keeps the process warnings of a test from the terminal. Returns a function that gives their messages so far. */
export function processWarnings(): () => string[] {
  const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => warnings.mockRestore());
  return () => warnings.mock.calls.map(([message]) => String(message));
}
