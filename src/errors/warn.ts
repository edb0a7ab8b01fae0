/** Reports something that has no caller to be thrown at: a process warning where there is one, else the console. */
export function warn(message: string): void {
  const runtime: { process?: { emitWarning?: (message: string, options: { type: string }) => void } } =
    globalThis;
  if (runtime.process?.emitWarning) runtime.process.emitWarning(message, { type: 'PartnerExchangeWarning' });
  else console.warn(message);
}
