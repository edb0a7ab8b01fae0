import type * as z from 'zod';
import { tryParse } from '../../internal/json.ts';
import type * as schemas from '../sandbox/control/schemas.ts';

export type State = z.output<typeof schemas.stateSchema>;
export type ListedEntry = z.output<typeof schemas.traceEntrySchema> & {
  /** The verdict of `listen`; a sandbox has none. */
  readonly signature?: 'verified' | 'refused' | 'unchecked';
};
export type Exchange = z.output<typeof schemas.exchangeSchema>;
export type Signature = z.output<typeof schemas.signatureSchema>;
export type Explanation = z.output<typeof schemas.explanationSchema>;
export type Order = z.output<typeof schemas.orderSchema>;
export type PostedEvent = z.output<typeof schemas.deliverySchema>;
export type Email = z.output<typeof schemas.emailSchema>;
export type Message = z.output<typeof schemas.messageSchema>;
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

/** Keeps the token for this tab alone. */
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

export function remove<Answer>(path: string): Promise<Answer> {
  return call('DELETE', path);
}

export function getText(path: string): Promise<string> {
  return request('GET', path);
}

/** Encodes the parameters of a path. */
export function pathOf(parts: TemplateStringsArray, ...params: (string | number)[]): string {
  return String.raw({ raw: parts }, ...params.map((each) => encodeURIComponent(each)));
}

export function headers(): Record<string, string> {
  const token = sessionStorage.getItem(storageKey);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

async function call<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const text = await request(method, path, body && JSON.stringify(body));
  // Sound: the API's tests hold its answers against the schemas that these types come from.
  return parse(text) as Answer;
}

/** The answer of the API as text. @throws {ApiError} with a message for the user of the page */
async function request(method: string, path: string, body?: string): Promise<string> {
  const isJson = body !== undefined;
  const init = { method, headers: { ...headers(), ...(isJson && { 'content-type': 'application/json' }) } };
  // The message of the browser names its functions, so ours takes its place.
  const response = await fetch(path, { ...init, body: body ?? null }).catch(() => {
    throw new ApiError('no_answer', noAnswer);
  });
  const text = await response.text().catch(() => {
    throw new ApiError('no_answer', noAnswer);
  });
  if (response.ok) return text;
  // Sound: every refusal of the API has this form.
  const { error, message } = parse(text) as { error: string; message: string };
  if (error === 'token_wrong') sessionStorage.removeItem(storageKey);
  throw new ApiError(error, /^token_/.test(error) ? tokenNeeded : message);
}

const noAnswer = isListening
  ? 'The command listen does not answer. Is it still running?'
  : 'The sandbox does not answer. Is it still running?';
const tokenNeeded = 'This needs the token that was printed at the start. Enter it above.';

function parse(text: string): unknown {
  const value = tryParse(text);
  if (value !== undefined) return value;
  throw new ApiError('no_answer', 'Another program answers at this address. Open the printed address again.');
}
