import { tryParse } from '../internal/json.ts';
import { decimalDigits } from '../internal/json-scanner.ts';
import { readBoundedText } from '../internal/read-bounded.ts';

/**
 * A successful reply. The contract shows none (ledger: `replies`), so we assume nothing about its body: pass a `schema`
 * to check and type it.
 */
export interface Reply<Body = unknown> {
  /** 200 to 299. */
  readonly status: number;
  /** Headers of the reply. */
  readonly headers: Headers;
  /** Parsed JSON, or text if it is not JSON; `undefined` if empty. */
  readonly body: Body;
  /**
   * The number at a path of the reply's JSON in plain digits, of at most 100 characters: parsing rounds in `body` (it makes
   * 9007199254740992 of `9007199254740993`). `undefined` without such a number. Not enumerable.
   * @param path a member's name, or names and array indexes from the outermost inwards
   */
  decimal(path: string | readonly (string | number)[]): string | undefined;
}

/** A reply with its text, which is shown nowhere: it can hold keys. */
export function makeReply<Body>(
  { status, headers, text = '' }: ReadReply,
  body: Body,
  members: object = {},
): Reply<Body> {
  const decimal: Reply['decimal'] = (path) => decimalDigits(text, path);
  const reply = { status, headers, body, ...members };
  // Sound: the member is added here.
  return Object.defineProperty(reply as Reply<Body>, 'decimal', { value: decimal });
}

export interface ReadReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  /** As it was received, if it is whole. */
  readonly text?: string;
  /** Why `body` is missing, if reading it failed. */
  readonly failure?: 'too_large' | 'broken';
  readonly cause?: unknown;
}

/** What is known of a reply before its body is read. */
export function replyHead(response: Response): ReadReply {
  // Some runtimes answer `redirect: 'manual'` with an opaque redirect, whose status is 0.
  const status = response.status === 0 ? 302 : response.status;
  return { status, headers: response.headers, body: undefined };
}

/** More than any reply of the contract has. */
const maxReplyBytes = 1_048_576;

/** Never throws: a failure is part of the result. */
export async function readReply(response: Response): Promise<ReadReply> {
  const { status, headers } = replyHead(response);
  try {
    const text = await readBoundedText(response.body, maxReplyBytes);
    if (text === undefined) return { status, headers, body: undefined, failure: 'too_large' };
    const value = tryParse(text);
    const body = value === undefined && text.trim() !== '' ? text : value;
    return { status, headers, body, text };
  } catch (cause) {
    return { status, headers, body: undefined, failure: 'broken', cause };
  }
}

/** An HTTP date. `Date.parse` alone accepts almost anything, even `-5` and `1.5`. */
const httpDate = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;

/** A day. Services that mean a time of day write its seconds since 1970, which would be a wait of 56 years. */
const longestRetryAfterMs = 86_400_000;

/** Reads seconds or a date, bounded by {@link longestRetryAfterMs}; `undefined` if it is malformed. */
export function retryAfterMs(reply: ReadReply | undefined, now: number): number | undefined {
  const value = reply?.headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, longestRetryAfterMs);
  const date = httpDate.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), longestRetryAfterMs);
}

/** Where services put a message for people, the most telling member first. */
const members = ['message', 'error_description', 'detail', 'title', 'reason', 'msg', 'description'] as const;
/** Members that hold a text, or an object or list with the members above. A code is better than nothing. */
const nested = ['error', 'errors', 'code'] as const;
/** How deep to look for errors inside errors. */
const maxDepth = 3;

/**
 * The most telling first: the usual members of a JSON error, otherwise the title or start of a page, or the text.
 * Neither bounded nor redacted.
 */
export function replyTexts(body: unknown): string[] {
  const texts = typeof body === 'string' ? [pageText(body)] : textsIn(body, 0);
  return texts.filter((text) => text.trim() !== '');
}

function textsIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > maxDepth) return [];
  if (Array.isArray(value)) return textsIn(value[0], depth + 1);
  const object: { readonly [name: string]: unknown } = { ...value };
  const own = members.flatMap((name) => object[name]).filter((text) => typeof text === 'string');
  return [...own, ...nested.flatMap((name) => textsIn(object[name], depth + 1))];
}

function pageText(text: string): string {
  if (!/^\s*<(?:!doctype|html|head|body|\?xml|title|h1)\b/i.test(text)) return text;
  const title = /<title[^<>]*>([^<]*)/i.exec(text)?.[1]?.trim();
  return title || text.replace(/<(script|style)\b[\s\S]*?(?:<\/\1>|$)/gi, ' ').replace(/<[^<>]*>/g, ' ');
}
