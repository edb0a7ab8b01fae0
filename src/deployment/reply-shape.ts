import { hash } from '../internal/hash.ts';
import { isJsonObject, type JsonValue } from '../internal/json.ts';
import { holdsKey } from '../internal/redact-credentials.ts';
import { denyingMember } from './denying-members.ts';

/**
 * The body of a reply with names and types in place of its values, so that it can be kept and logged:
 *
 * - A text is `"text"`, a number 0; an empty text, a boolean and `null` stay.
 * - Of a list its first member is there, of an object up to 64 members, five levels deep. A name that may itself be a
 *   value, such as a number or a key, is `"…1"`.
 * - Members that say whether a call succeeded (`status`, `code`, `success` and their like) keep a short word or a number of
 *   up to three digits: {@link usualOrderReply} finds the same in the shape as in the body.
 * - A body that is text and not JSON is `"text:"` and 16 digits of its SHA-256, which tell two texts apart.
 *
 * The shape of a shape is that shape.
 */
export function shapeOfReply(body: unknown): JsonValue | undefined {
  if (body === undefined) return undefined;
  if (typeof body !== 'string') return shapeOf(body, 0);
  return textShape.test(body) || body === '' ? body : `text:${hash('sha256', body, 'hex').slice(0, 16)}`;
}

const textShape = /^text:[0-9a-f]{16}$/;
const maxMembers = 64;
const maxDepth = 5;

function shapeOf(value: unknown, depth: number): JsonValue {
  if (typeof value === 'string') return value === '' ? '' : 'text';
  if (typeof value === 'number') return 0;
  if (typeof value === 'boolean' || value === null) return value;
  if (depth >= maxDepth) return Array.isArray(value) ? [] : {};
  if (Array.isArray(value)) return value.slice(0, 1).map((one) => shapeOf(one, depth + 1));
  if (!isJsonObject(value)) return {};
  const isSignal = (name: string) => denyingMember(name) !== undefined;
  const members = Object.entries(value).filter(([name], index) => index < maxMembers || isSignal(name));
  let hidden = 0;
  return Object.fromEntries(
    members.map(([name, member]) => [
      isName(name) ? name : `…${++hidden}`,
      (isSignal(name) ? signalOf(member) : undefined) ?? shapeOf(member, depth + 1),
    ]),
  );
}

function isName(name: string): boolean {
  return /^[\p{L}_-][\p{L}\d_.-]{0,39}$/u.test(name) && !/\d{4}/.test(name) && !holdsKey(name);
}

/** What a member of the table says: a word like `failed`, or a status. A longer number is 9999, which is no status. */
function signalOf(value: unknown): string | number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 1000 ? value : 9999;
  const word = typeof value === 'string' ? value.trim() : '';
  if (typeof value === 'string' && word === '') return '';
  return /^[A-Za-z_-]{1,16}$|^\d{1,3}$/.test(word) ? word : undefined;
}

/** Names an order without showing its id. */
export function orderIdDigest(partnerOrderId: string): string {
  // As JSON, since UTF-8 would make the same bytes of all lone surrogates.
  return hash('sha256', JSON.stringify(partnerOrderId), 'hex');
}
