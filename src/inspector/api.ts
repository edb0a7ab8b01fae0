import type * as z from 'zod';
import type * as answers from '../sandbox/control/schemas.ts';

export type State = z.output<typeof answers.state>;
export type TraceEntry = z.output<typeof answers.traceEntry> & {
  /** Only of events that `listen` received. */
  readonly signature?: 'verified' | 'refused' | 'unchecked';
};
export type Exchange = z.output<typeof answers.exchange>;
export type Signature = z.output<typeof answers.signature>;
export type Explanation = z.output<typeof answers.explanation>;
export type Order = z.output<typeof answers.order>;
export type Delivery = z.output<typeof answers.delivery>;
export type Email = z.output<typeof answers.email>;
export type Message = z.output<typeof answers.message>;
export interface List<Item> {
  readonly total: number;
  readonly items: readonly Item[];
}

export const isListening = document.body.dataset.source === 'listen';

const storageKey = 'sandbox-token';

/** The token is in the fragment, which the browser does not send, and leaves the address bar. */
export function takeToken(): void {
  const params = new URLSearchParams(location.hash.slice(1));
  const token = params.get('token');
  if (token === null) return;
  setToken(token);
  params.delete('token');
  history.replaceState(
    null,
    '',
    location.pathname + location.search + (params.size === 0 ? '' : `#${params}`),
  );
}

/** For this tab alone. */
export function setToken(token: string): void {
  sessionStorage.setItem(storageKey, token);
}

export function hasToken(): boolean {
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

export function post<Answer>(path: string, body: object = {}): Promise<Answer> {
  return call('POST', path, body);
}

/** Encodes the parameters of a path. */
export function pathOf(parts: TemplateStringsArray, ...params: (string | number)[]): string {
  return String.raw({ raw: parts }, ...params.map((each) => encodeURIComponent(each)));
}

/** With the token, if this tab has one. */
export function headers(): Record<string, string> {
  const token = sessionStorage.getItem(storageKey);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

async function call<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(path, {
    method,
    headers: { ...headers(), ...(body && { 'content-type': 'application/json' }) },
    body: body ? JSON.stringify(body) : null,
  });
  const answer: unknown = await response.json();
  if (!response.ok) {
    // Sound: every refusal of the API has this form.
    const { error, message } = answer as { error: string; message: string };
    if (error === 'token_wrong') sessionStorage.removeItem(storageKey);
    throw new ApiError(error, message);
  }
  // Sound: the API's tests hold its answers against the schemas that these types come from.
  return answer as Answer;
}
