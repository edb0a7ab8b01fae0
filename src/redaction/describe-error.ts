import { redactCredentials } from './redact-credentials.ts';
import { storableText } from './storable-text.ts';

/**
 * Describes anything that was thrown, as a short text to store. Credentials that drivers and HTTP clients put into
 * their messages are left out, since the text outlives the process.
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
