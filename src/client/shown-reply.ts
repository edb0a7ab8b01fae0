import type { RequestErrorDetails } from '../errors/errors.ts';
import { redactReply, repeatsOf } from '../internal/echoed-secrets.ts';
import { hidden, holdsKey, redactCredentials } from '../internal/redact-credentials.ts';
import { redactText } from '../internal/redaction.ts';
import { type Call, secretsOf } from './call.ts';
import type { ReadReply } from './reply.ts';

/**
 * The reply as an error shows it. A service may repeat what it got, so each text that repeats a key, a signature, a
 * header, the text of the request or personal data of it is hidden whole, and so is a copy of the request as an object.
 * Personal data is only cut out where it is spelled as it was sent. Everything else stays: a reply may hold new keys,
 * which are nowhere else.
 *
 * @param personal values of the request
 */
export function shownReply(
  call: Call,
  { headers, body }: Pick<ReadReply, 'headers' | 'body'>,
  personal: readonly string[],
): Pick<RequestErrorDetails, 'headers' | 'body'> {
  // Shorter ones occur in texts by chance.
  const secrets = secretsOf(call).filter((secret) => secret.length > 3);
  const repeatsSecret = repeatsOf(secrets);
  const repeatsPersonal = repeatsOf(personal);
  const repeats = (text: string) => repeatsSecret(text) || repeatsPersonal(redactText(text, personal));

  function show(text: string): string {
    if (!repeats(text)) return redactText(text, personal);
    // New keys stay, by their prefixes.
    const words = text.split(/[\s"'<>,]+/).filter((word) => holdsKey(word) && !repeats(word));
    return [hidden, ...words].join(' ');
  }

  const request = call.body === undefined ? undefined : membersOf(JSON.parse(call.body));
  const isRequest = (value: object) => request !== undefined && isCopy(value, request);
  const shownHeaders = [...headers].map(([name, value]): [string, string] => [
    name,
    // The address of a redirect stays: it repeats our query values, which are hidden first.
    show(name === 'location' && repeats(value) ? redactCredentials(value) : value),
  ]);
  return { headers: new Headers(shownHeaders), body: redactReply(body, show, { isHidden: isRequest }) };
}

type Members = ReadonlyMap<string, unknown>;

/** Without the signature, which a copy may lack. */
function membersOf(value: unknown): Members | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const members = new Map<string, unknown>(Object.entries(value));
  members.delete('signature');
  return members.size === 0 ? undefined : members;
}

/** Whether an object has the members of the request, and no others. */
function isCopy(value: object, request: Members): boolean {
  const members = membersOf(value);
  return (
    members?.size === request.size && [...request].every(([name, own]) => isSame(own, members.get(name)))
  );
}

/** Goes no deeper than the request, however deep the reply is. */
function isSame(own: unknown, other: unknown): boolean {
  if (typeof own !== 'object' || own === null) return own === other;
  if (typeof other !== 'object' || other === null) return false;
  const others = new Map<string, unknown>(Object.entries(other));
  const members = Object.entries(own);
  return members.length === others.size && members.every(([name, each]) => isSame(each, others.get(name)));
}
