import { onTestFinished, vi } from 'vitest';

/** Until the test ends, `src` sees a process that differs from this one in these members. */
export function stubProcess(members: Readonly<Record<string, unknown>>): void {
  const entries = Object.entries(members).map(([name, value]) => [name, { value }]);
  vi.stubGlobal('process', Object.create(process, Object.fromEntries(entries)));
  onTestFinished(() => void vi.unstubAllGlobals());
}

/** Until the test ends, `src` sees this machine with some functions of `node:fs` replaced. */
export function stubFileSystem(
  functions: Readonly<Record<string, unknown>>,
  members: Readonly<Record<string, unknown>> = {},
): void {
  const { getBuiltinModule } = process;
  const fs = { ...getBuiltinModule('node:fs'), ...functions };
  stubProcess({
    ...members,
    getBuiltinModule: (name: string) => (name === 'node:fs' ? fs : getBuiltinModule(name)),
  });
}

/** An error of the system, as Node throws it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
