import { allKeysOf } from '../../../credentials/define-credentials.ts';
import { redactReply } from '../../../internal/echoed-secrets.ts';
import { redactText } from '../../../internal/redaction.ts';
import type { SandboxState } from '../world/state.ts';

/**
 * Hides the keys that the caller gave to the sandbox, which may open the real service, in an answer of the control API.
 * Keys that the sandbox has drawn stay.
 */
export function hideGivenKeys<Value>({ options, partners }: SandboxState, value: Value): Value {
  const generations = partners.all.flatMap((partner) => [partner, ...(partner.earlier ?? [])]);
  const given = generations
    .filter(({ isGiven }) => isGiven)
    .flatMap(({ credentials }) => allKeysOf(credentials));
  const keys = options.masterKey === undefined ? given : [...given, options.masterKey];
  if (keys.length === 0 || value instanceof Response) return value;
  // Sound: it changes texts alone.
  return redactReply(value, (text) => redactText(text, keys)) as Value;
}
