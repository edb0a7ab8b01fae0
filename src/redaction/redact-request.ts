const hidden = '[redacted]';
const sensitiveName = /auth|cookie|key|partner|secret|signature|token/i;

/**
 * Headers as an object, without the values of those that may hold a secret, and without the request's secrets in
 * any other: a redirect's `location` may repeat the query.
 */
export function redactHeaders(headers: Headers, secrets: readonly string[]): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of headers) {
    shown[name] = sensitiveName.test(name) ? hidden : redactText(value, secrets);
  }
  return shown;
}

/** What a deployment's own headers may hold of secrets. */
export function sensitiveValues(headers: Headers): string[] {
  return [...headers].filter(([name]) => sensitiveName.test(name)).map(([, value]) => value);
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
  Object.defineProperty(copy, 'stack', { value: redactText(error.stack, secrets) });
  if ('code' in error && (typeof error.code === 'string' || typeof error.code === 'number')) {
    const code = typeof error.code === 'string' ? redactText(error.code, secrets) : error.code;
    Object.defineProperty(copy, 'code', { value: code, enumerable: true });
  }
  return copy;
}

/** The longest first: one secret may be part of another. An error's members may be anything, not only text. */
function redactText(text: unknown, secrets: readonly string[]): string {
  const forms = secrets.filter((secret) => secret !== '').flatMap(writtenForms);
  forms.sort((one, other) => other.length - one.length);
  return forms.reduce((shown, form) => shown.replaceAll(form, hidden), String(text ?? ''));
}

/** As it is, inside a JSON string, in a URL, and as `URLSearchParams` writes it. */
function writtenForms(secret: string): string[] {
  const query = new URLSearchParams({ '': secret }).toString().slice(1);
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed()), query];
}
