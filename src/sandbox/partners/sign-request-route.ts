import { findMembers } from '../../json/text-scanner.ts';
import { canonicalText } from '../../signature/canonical-text.ts';
import { decodeBody } from '../../signature/decode-body.ts';
import { writeSignature } from '../../signature/digest.ts';
import { removeSignature } from '../../signature/remove-signature.ts';
import { Refusal } from '../http/refusal.ts';
import { jsonReply } from '../http/replies.ts';
import { parseBody, typedRefusal } from '../http/request-body.ts';
import type { Route } from '../http/routes.ts';
import type { SandboxState } from '../sandbox-state.ts';

/** Below the onboarding base URL (reported). */
export const signRequestPath = '/api/v1/no-auth/PartnerP2P/SignRequestSha512/';

/**
 * The reported signing endpoint: signs the fields of a body with its `secret`. What it answers with is the sandbox's
 * choice: `{ signature }`.
 */
export function signRequestRoute(state: SandboxState): Route {
  return {
    operation: 'signRequest',
    method: 'POST',
    path: new URL(state.deployment.onboardingBaseUrl + signRequestPath).pathname,
    content: 'json',
    handle: ({ body }) => {
      const { secret, ...value } = parseBody(body);
      if (typeof secret !== 'string' || secret === '') {
        throw new Refusal(400, 'invalid_body', 'The body does not fit: secret: must be text.');
      }
      const scheme = state.deployment.signature;
      const unsignedText = typedRefusal(() => withoutSecret(decodeBody(body)));
      const signed = typedRefusal(() => canonicalText(scheme, { unsignedText, value }));
      return jsonReply(200, { signature: writeSignature(scheme, secret, signed) });
    },
  };
}

/** The text as it was sent, for schemes that sign it as it is. */
function withoutSecret(text: string): string {
  const [member] = findMembers(text, 'secret');
  if (member === undefined) return text;
  // What is known of cutting out one member is known of the signature: the secret takes its name for that.
  return removeSignature(`${text.slice(0, member.start)}"signature":${text.slice(member.value.start)}`);
}
