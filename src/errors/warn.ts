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

const warned = new Set<string>();
const maxWarned = 1000;
