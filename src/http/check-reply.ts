import { plainIssue } from '../deployment/plain-issue.ts';
import type { StandardResult } from '../deployment/standard-schema.ts';
import type { Call } from './call.ts';
import type { CallState } from './call-state.ts';
import { failure } from './failure.ts';
import type { Reply } from './reply.ts';

/** The reply of a call that succeeded, checked with the schema of the call. @throws {RequestError} */
export async function checkReply<Body>(call: Call<Body>, state: CallState): Promise<Reply<Body>> {
  const reply = state.reply;
  if (reply === undefined) throw new TypeError('A call ended without a reply.');
  const { status, headers, body } = reply;
  const schema = call.options.schema;
  // Sound: without a schema the type parameter is `unknown`, which any body fits.
  if (schema === undefined) return { status, headers, body: body as Body };
  const nonconforming = {
    code: 'reply_nonconforming',
    outcome: 'unknown',
    assumptions: ['replies'],
  } as const;
  let result: StandardResult<Body>;
  try {
    result = await schema['~standard'].validate(body);
  } catch (cause) {
    // The service has acted, and an exception from the caller's schema must not hide that.
    const issues = [{ message: 'the schema threw instead of answering', path: [] }];
    throw failure(call, state, { ...nonconforming, issues, cause });
  }
  if (result.issues === undefined) return { status, headers, body: result.value };
  const issues = result.issues.map((issue) => plainIssue(issue, body));
  throw failure(call, state, { ...nonconforming, issues });
}
