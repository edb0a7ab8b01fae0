/** How many causes are followed: an error may be its own cause. */
const maxDepth = 5;

/**
 * What the transport says about a failure: the innermost cause with a message, since `fetch failed` tells nothing.
 * Neither bounded nor redacted.
 */
export function causeText(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > maxDepth) return undefined;
  // Several addresses were tried. The first failure speaks for all.
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return causeText(inner, depth + 1) ?? ownText(error);
}

function ownText(error: Error): string | undefined {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // OpenSSL's own messages are mostly places in its source.
  const message =
    'reason' in error && typeof error.reason === 'string' ? error.reason : String(error.message);
  if (message.includes(code)) return message === '' ? undefined : message;
  return `${code}: ${message}`;
}
