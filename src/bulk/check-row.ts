import { isValidationError } from '../errors/validation-error.ts';
import { normalizePhone } from '../phone/normalize-phone.ts';

/** A row that can be sent, or what is wrong with it. */
export type CheckedRow =
  | { readonly key: string; readonly to_phone: string; readonly message: string }
  | { readonly key: string; readonly problem: string };

/** Longer than any message that a messenger takes. */
const maxMessageLength = 65_536;

/** @param place of the row, from 1 */
export function checkRow(row: unknown, place: number, country: string | undefined): CheckedRow {
  const {
    key: given,
    to_phone,
    message,
    invalid,
  }: Record<string, unknown> = typeof row === 'object' && row !== null ? { ...row } : {};
  const key = given === undefined ? String(place) : String(given);
  if (typeof invalid === 'string') return { key, problem: invalid };
  if (typeof to_phone !== 'string') return { key, problem: 'to_phone must be text' };
  if (typeof message !== 'string' || message.trim() === '') return { key, problem: 'message must be text' };
  if (message.length > maxMessageLength) return { key, problem: 'message is too long' };
  try {
    return { key, to_phone: normalizePhone(to_phone, { country }), message };
  } catch (error) {
    if (isValidationError(error)) return { key, problem: `to_phone ${error.issues[0]?.message}` };
    throw error;
  }
}
