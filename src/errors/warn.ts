/** Reports something that has no caller to be thrown at: a process warning where there is one, else the console. */
export function warn(message: string): void {
  const runtime: { process?: { emitWarning?: (message: string, options: { type: string }) => void } } =
    globalThis;
  if (runtime.process?.emitWarning) runtime.process.emitWarning(message, { type: 'PartnerExchangeWarning' });
  else console.warn(message);
}

/** Reports a message once in the life of the process, however often it comes up. */
export function warnOnce(message: string): void {
  // Messages may hold names from outside: this must not grow without bound.
  if (warned.has(message) || warned.size >= maxWarned) return;
  warned.add(message);
  warn(message);
}

const warned = new Set<string>();
const maxWarned = 1000;
