import { storableText } from './storable-text.ts';

const hidden = '[redacted]';
/** The user and password of an address, the values of a query, and the credentials of an Authorization header. */
const secrets = /(\/\/)[^\s/]*(?=@)|([?&][\w.-]+=)[^\s&#"']+|(\b(?:Basic|Bearer)\s+)[^\s"']+/gi;

/**
 * What somebody threw, as a short text to be kept; a handler may throw anything. Without what drivers and HTTP
 * clients are known to put there of credentials: it outlives the process.
 */
export function describeError(error: unknown): string {
  const redacted = text(error)
    .slice(0, 5_000)
    .replace(secrets, (_, ...[address, query, header]) => `${address ?? query ?? header}${hidden}`);
  return storableText(redacted.slice(0, 500));
}

function text(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return 'something that cannot be printed';
  }
}
