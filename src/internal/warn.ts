/** A process warning where the runtime has them, otherwise on the console. */
export function warn(message: string): void {
  const runtime: { process?: { emitWarning?: (message: string, options: { type: string }) => void } } =
    globalThis;
  if (runtime.process?.emitWarning) runtime.process.emitWarning(message, { type: 'PartnerExchangeWarning' });
  else console.warn(message);
}

export function warnOnce(message: string): void {
  // Messages may hold foreign names, so their number is limited.
  if (warned.has(message) || warned.size >= maxWarned) return;
  warned.add(message);
  warn(message);
}

/**
 * Calls a hook of the user's. Never throws and waits for nothing; a hook that fails is one warning.
 * @param report receives the warning instead, each time
 */
export function callHook(
  hook: string,
  call: () => unknown,
  report: (message: string) => void = warnOnce,
): void {
  void (async () => call())().catch(() => report(`${hook} failed; nothing else is affected.`));
}

const warned = new Set<string>();
const maxWarned = 1000;
