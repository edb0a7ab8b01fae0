import type { JsonObject, JsonValue } from '../internal/json.ts';

/** A body and its content type. */
interface ReplyBody {
  readonly type: string;
  readonly text: string;
}

const json = (value: JsonValue): ReplyBody => ({ type: 'application/json', text: JSON.stringify(value) });

/** Bodies that a successful reply may have in place of the documented object, which the function is given. */
export const replyForms = {
  wrapped: (own) => json({ status: 'success', data: own }),
  text: () => ({ type: 'text/plain; charset=utf-8', text: 'OK' }),
  error_text: () => ({ type: 'text/plain; charset=utf-8', text: 'error: not available' }),
  html: () => ({
    type: 'text/html',
    text: '<!doctype html>\n<html><body><h1>Thank you</h1></body></html>\n',
  }),
  empty: () => ({ type: 'application/json', text: '' }),
  cut: (own) => ({ type: 'application/json', text: JSON.stringify(own).slice(0, -10) }),
  list: (own) => json([own]),
  null: () => json(null),
  true: () => json(true),
  empty_object: () => json({}),
} as const satisfies Record<string, (own: JsonObject) => ReplyBody>;

/** The form of a successful reply: what the service writes. @useDeclaredType */
export type ReplyForm = keyof typeof replyForms;

// Sound: the keys of the table.
export const replyFormNames = Object.keys(replyForms) as ReplyForm[];

/** Ways in which the body of a 200 says that the service did not act. */
export const denials = {
  success_false: { success: false },
  success_capital: { Success: false },
  ok_false: { ok: false },
  status_false: { status: false },
  status_error: { status: 'error' },
  status_failed: { status: 'FAILED' },
  code_text: { code: '400' },
  status_code: { statusCode: 422 },
  errors_list: { errors: [{ reason: 'declined' }] },
  response_code: { responseCode: '99' },
  nested: { data: { success: false } },
} as const satisfies Record<string, JsonValue>;

/** The form of a denial: what the service writes. @useDeclaredType */
export type DenialForm = keyof typeof denials;

// Sound: the keys of the table.
export const denialNames = Object.keys(denials) as DenialForm[];

/** The body of a refusal in this form. Its `error` would deny by itself, so only the message stays. */
export function denialOf(form: DenialForm, { message }: JsonObject): JsonObject {
  return { ...denials[form], message: message ?? '' };
}
