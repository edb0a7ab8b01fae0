/** Marks our errors, so that the guards work across two copies of the package. */
const brand = Symbol.for('partner-exchange-sdk.error');

/**
 * The base of every error this package throws.
 *
 * `code` is a stable literal to branch on; `message` says what failed, on what, and what to do next. No error
 * ever holds a secret key, a one-time code, an expected signature or a request body.
 */
export abstract class PartnerExchangeError extends Error {
  /** Stable, literal, documented on each subclass. */
  abstract readonly code: string;

  constructor(kind: string, message: string, options?: ErrorOptions) {
    super(message, options);
    // Not enumerable: a printed error shows its name once. Set by us, so that minified builds keep it.
    Object.defineProperty(this, 'name', { value: kind, configurable: true, writable: true });
    Object.defineProperty(this, brand, { value: kind });
  }
}

/** The kind of an error of ours, whichever copy of the package made it. */
export function kindOf(error: unknown): string | undefined {
  try {
    if (!(error instanceof Error) || !(brand in error)) return undefined;
    const kind = error[brand];
    return typeof kind === 'string' ? kind : undefined;
  } catch {
    // A handler may throw anything, even a proxy that throws when it is read. That is not an error of ours.
    return undefined;
  }
}
