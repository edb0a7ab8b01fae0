const hidden = '[redacted]';
const sensitiveName = /auth|cookie|key|partner|secret|signature|token/i;

/** Headers as an object, with the values of those that may hold a secret hidden. */
export function redactHeaders(headers: Headers, alsoHide: readonly string[] = []): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of headers) {
    shown[name] = sensitiveName.test(name) || alsoHide.includes(name) ? hidden : value;
  }
  return shown;
}

/** A URL with every query value hidden: the messenger's API key travels there. */
export function redactUrl(url: string): string {
  const { origin, pathname, searchParams } = new URL(url);
  const names = [...searchParams.keys()].map((name) => `${encodeURIComponent(name)}=${hidden}`);
  return origin + pathname + (names.length > 0 ? `?${names.join('&')}` : '');
}

/**
 * An error that may serve as a `cause`: name, code and message of the original and of its causes, with every
 * secret of the request replaced. The original may carry the request itself.
 */
export function redactError(error: unknown, secrets: readonly string[], depth = 0): Error | undefined {
  if (!(error instanceof Error) || depth > 4) return undefined;
  const cause = redactError(error.cause, secrets, depth + 1);
  const copy = new Error(redactText(error.message, secrets), cause && { cause });
  Object.defineProperty(copy, 'name', { value: redactText(error.name, secrets) });
  Object.defineProperty(copy, 'stack', { value: redactText(error.stack ?? '', secrets) });
  if ('code' in error && (typeof error.code === 'string' || typeof error.code === 'number')) {
    Object.defineProperty(copy, 'code', { value: error.code, enumerable: true });
  }
  return copy;
}

function redactText(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) {
    if (secret === '') continue;
    for (const form of [secret, encodeURIComponent(secret)]) shown = shown.replaceAll(form, hidden);
  }
  return shown;
}
