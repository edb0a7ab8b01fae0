import { redactCredentials } from './redact-credentials.ts';
import { storableText } from './storable-text.ts';

/**
 * What somebody threw, as a short text to be kept; a handler may throw anything. Without what drivers and HTTP
 * clients are known to put there of credentials: it outlives the process.
 */
export function describeError(error: unknown): string {
  return storableText(redactCredentials(text(error).slice(0, 5_000)).slice(0, 500));
}

function text(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return 'something that cannot be printed';
  }
}
