import { isJsonObject, type JsonObject, type JsonValue } from '../../../internal/json.ts';

/** A reply of the service before it is sent. */
export interface SandboxReply {
  /** HTTP status, 200 to 599. */
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. A text is sent as it is; a status without a body has none. */
  readonly body: JsonValue;
}

/** A body and its content type. */
interface ReplyBody {
  readonly type: string;
  readonly body: JsonValue;
}

const json = (body: JsonValue): ReplyBody => ({ type: 'application/json', body });

/** Bodies that a successful reply may have in place of the documented object, which the function is given. */
export const replyForms = {
  wrapped: (own) => json({ status: 'success', data: own }),
  text: () => ({ type: 'text/plain; charset=utf-8', body: 'OK' }),
  error_text: () => ({ type: 'text/plain; charset=utf-8', body: 'error: not available' }),
  html: () => ({
    type: 'text/html',
    body: '<!doctype html>\n<html><body><h1>Thank you</h1></body></html>\n',
  }),
  empty: () => json(''),
  cut: (own) => json(JSON.stringify(own).slice(0, -10)),
  list: (own) => json([own]),
  null: () => json(null),
  true: () => json(true),
  empty_object: () => json({}),
} as const satisfies Record<string, (own: JsonObject) => ReplyBody>;

/** The form of a successful reply: what the service writes. @useDeclaredType */
export type ReplyForm = keyof typeof replyForms;

// Sound: the keys of the table.
export const replyFormNames = Object.keys(replyForms) as ReplyForm[];

/** A successful reply with another body. Every other reply stays as it is. */
export function inForm(reply: SandboxReply, form: ReplyForm): SandboxReply {
  if (reply.status > 299 || !isJsonObject(reply.body)) return reply;
  const { type, body } = replyForms[form](reply.body);
  return { ...reply, headers: { ...reply.headers, 'content-type': type }, body };
}

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
export function denialInForm(form: DenialForm, { message }: JsonObject): JsonObject {
  return { ...denials[form], message: message ?? '' };
}
