/**
 * Warns when there is no caller to throw to: a process warning where the runtime has them, otherwise on the console.
 */
export function warn(message: string): void {
  const runtime: { process?: { emitWarning?: (message: string, options: { type: string }) => void } } =
    globalThis;
  if (runtime.process?.emitWarning) runtime.process.emitWarning(message, { type: 'PartnerExchangeWarning' });
  else console.warn(message);
}

/** Warns of each message once per process. */
export function warnOnce(message: string): void {
  // Messages may hold names from outside, so their number is limited.
  if (warned.has(message) || warned.size >= maxWarned) return;
  warned.add(message);
  warn(message);
}

/**
 * Calls a hook of the user's. It never throws and nothing waits for it; a hook that fails is one warning.
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
