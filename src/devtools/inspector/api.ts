import { tryParse } from '../../internal/json.ts';

const storageKey = 'sandbox-token';

/**
 * Takes the token out of the address bar, and keeps it for this tab alone. It is in the fragment, which the browser does
 * not send.
 *
 * @returns whether there is a token
 */
export function takeToken(): boolean {
  const params = new URLSearchParams(location.hash.slice(1));
  const token = params.get('token');
  if (token !== null) {
    sessionStorage.setItem(storageKey, token);
    params.delete('token');
    const rest = params.size === 0 ? '' : `#${params}`;
    history.replaceState(null, '', location.pathname + location.search + rest);
  }
  return sessionStorage.getItem(storageKey) !== null;
}

export class ApiError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export function get<Answer>(path: string): Promise<Answer> {
  return call('GET', path);
}

/** @throws {ApiError} with a message for the user of the page */
export async function call<Answer>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<Answer> {
  const response = await fetch(path, {
    method,
    headers: { ...headers(), ...(body && { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
    // The message of the browser names its functions, so ours takes its place.
  }).catch(throwNoAnswer);
  const value = tryParse(await response.text().catch(throwNoAnswer));
  if (value === undefined) throw new ApiError('no_answer', otherProgram);
  // Sound: the types are those that the handlers of the API return.
  if (response.ok) return value as Answer;
  // Sound: every refusal of the API has this form.
  const { error, message } = value as { error: string; message: string };
  if (error === 'token_wrong') sessionStorage.removeItem(storageKey);
  throw new ApiError(error, /^token_/.test(error) ? tokenNeeded : message);
}

/** Encodes the parameters of a path. */
export function pathOf(parts: TemplateStringsArray, ...params: (string | number)[]): string {
  return String.raw({ raw: parts }, ...params.map((param) => encodeURIComponent(param)));
}

export function headers(): Record<string, string> {
  const token = sessionStorage.getItem(storageKey);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

function throwNoAnswer(): never {
  throw new ApiError('no_answer', 'The sandbox does not answer. Is it still running?');
}

export const tokenNeeded =
  'To change something, open the address that was printed at the start: it holds the token.';
const otherProgram = 'Another program answers at this address. Open the printed address again.';
