/** What somebody threw, as a short text; a handler may throw anything. */
export function describeError(error: unknown): string {
  return text(error).slice(0, 500);
}

function text(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return 'something that cannot be printed';
  }
}
